import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { openTurns, sealTurn, type CitedSource, type HistoryTurn } from '../conversation/history.ts';
import { languageOfText, type Language } from '../../../shared/text/texts.ts';
import { conversationOf, personIdOf, type GroupScope } from '../../domain/conversation.ts';
import { sceneFingerprint } from '../../policy/scenes.ts';
import { displayFileName } from '../files/file-words.ts';
import type { FileRef, ImageRef } from '../images/image-refs.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { TurnContext } from '../turn-context.ts';
import type { TurnClaim } from '../../domain/turn.ts';
import type { Outcome } from '../outcome.ts';

/** Length of a speaker tag's id; enough to be unique within a group. */
const SPEAKER_DIGITS = 10;
/** Maximum turns searched for the language of a person. */
export const LATEST_TURNS = 20;

type SpeakerPlace = Pick<InboundMessage, 'platform' | 'tenant' | 'app' | 'chat' | 'sender'>;

/** A finished turn of an outcome, sealed and unsealed. */
type Said = Pick<Outcome, 'history' | 'said'>;

/** A finished turn in the form that the commit appends to the history of the conversation. */
export function turnHistory(
  keyRing: KeyRing,
  context: TurnContext,
  answer: { text: string; interrupted: boolean; startsAnew: boolean; sources?: readonly CitedSource[] },
): Required<Said> {
  const { turn, question, newest } = context;
  const record: HistoryTurn = {
    version: 1,
    turnId: turn.turnId,
    messageIds: messagesAsked(context),
    atMs: turn.startedAtMs,
    speakerTag: newest.chat.kind === 'group' ? speakerTagOf(newest) : undefined,
    accountId: context.account?.accountId,
    scene: sceneFingerprint(context.scene),
    userText: question.text,
    quotedText: question.quotedText,
    ...imageFields(question.images),
    images: question.images.length,
    files: fileFields(context),
    assistantText: answer.text,
    sources: answer.sources !== undefined && answer.sources.length > 0 ? answer.sources : undefined,
    interrupted: answer.interrupted ? true : undefined,
    startsAnew: answer.startsAnew ? true : undefined,
  };
  return {
    said: record,
    history: {
      append: sealTurn(keyRing, turn.conversation.id, record),
      startsConversation: answer.startsAnew ? true : undefined,
    },
  };
}

/** Undefined if the turn consists of its own message only. */
function messagesAsked({ turn, replaced }: TurnContext): readonly DeliveryId[] | undefined {
  if (replaced) return replaced.messageIds ?? [replaced.turnId];
  const asked = turn.messages.filter(({ message }) => message.parts.length > 0).map(({ deliveryId }) => deliveryId);
  return asked.length === 1 && asked[0] === turn.turnId ? undefined : asked;
}

function imageFields(images: readonly ImageRef[]): Pick<HistoryTurn, 'mediaIds' | 'imagePlaces'> {
  if (images.length === 0) return {};
  return { mediaIds: images.map(({ mediaId }) => mediaId), imagePlaces: images.map(({ place }) => place) };
}

/** Uses the display names of the files. */
function fileFields({ question: { files, language } }: TurnContext): HistoryTurn['files'] {
  return files.length === 0
    ? undefined
    : files.map(({ mediaId, name }) => ({ mediaId, name: displayFileName(name, language) }));
}

/** The files of an earlier question. */
export function filesOfTurn({ files = [] }: HistoryTurn): FileRef[] {
  return files.map(({ mediaId, name }) => ({ mediaId, name, isQuoted: false }));
}

/** The images of an earlier question, as far as known; reading them shows whether they are still stored. */
export function imagesOfTurn({ mediaIds = [], imagePlaces = [], userText }: HistoryTurn): ImageRef[] {
  return mediaIds.map((mediaId, index) => ({ mediaId, place: imagePlaces[index] ?? userText.length }));
}

/**
 * If the answer begins a thread, the turn is also the first turn of the thread's conversation, which continues from it. The
 * outcome of an earlier worker contains it already.
 */
export function withThreadHistory(
  { keyRing, groupScope }: { keyRing: KeyRing; groupScope: GroupScope },
  { newest }: TurnContext,
  outcome: Outcome,
): Outcome {
  const { opensThread, chat } = newest;
  const { said } = outcome;
  if (opensThread === undefined || said === undefined) return outcome;
  const conversation = conversationOf({ ...newest, chat: { ...chat, threadId: opensThread } }, groupScope);
  return { ...outcome, threadHistory: { conversation, append: sealTurn(keyRing, conversation.id, said) } };
}

/** Stores the question of a turn without an answer, so that /retry can repeat it. It is never part of a prompt. */
export function failedTurnHistory(
  keyRing: KeyRing,
  context: TurnContext,
  { startsAnew }: { startsAnew: boolean } = { startsAnew: context.replaced?.startsAnew ?? false },
): Said {
  const { text, images, files, quotedText } = context.question;
  if (text === '' && images.length === 0 && files.length === 0 && quotedText === undefined) return {};
  return turnHistory(keyRing, context, { text: '', interrupted: true, startsAnew });
}

/** The last question of the conversation, from any person. */
export function lastTurn(keyRing: KeyRing, { turn }: TurnContext): HistoryTurn | undefined {
  return openTurns(keyRing, turn.conversation.id, turn.history.slice(-1)).at(-1);
}

/** A stable name of a person in a group's prompt that reveals nothing about them (SECURITY.md group-is-not-private). */
export function speakerTagOf(newest: SpeakerPlace): string {
  return speakerTagOfPerson(personIdOf(newest, newest.sender.userId));
}

export function speakerTagOfPerson(personId: PersonId): string {
  return `member-${personId.slice(0, SPEAKER_DIGITS)}`;
}

/** Language of the person's last message in the conversation; undefined if there is none or it is too old. */
export function lastLanguage(
  keyRing: KeyRing,
  turn: Pick<TurnClaim, 'conversation' | 'history'>,
  newest: SpeakerPlace,
): Language | undefined {
  const own = newest.chat.kind === 'group' ? speakerTagOf(newest) : undefined;
  // Files without text reveal no language.
  for (const sealed of turn.history.slice(-LATEST_TURNS).reverse()) {
    const [said] = openTurns(keyRing, turn.conversation.id, [sealed]);
    if (said && said.userText !== '' && said.speakerTag === own) return languageOfText(said.userText);
  }
  return undefined;
}
