import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { openTurns, sealTurn, type CitedSource, type HistoryTurn } from '../conversation/history.ts';
import { languageOfText, type Language } from '../../../shared/text/texts.ts';
import { conversationOf, personIdOf, type GroupScope } from '../../domain/conversation.ts';
import { markOf } from '../../policy/scenes.ts';
import { shownName } from '../files/file-words.ts';
import type { FileRef, ImageRef } from '../images/image-refs.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { TurnContext } from '../turn-context.ts';
import type { TurnClaim, TurnCommit } from '../../domain/turn.ts';
import type { Outcome } from '../outcome.ts';

/** So many that no two people of a group share a tag. */
const SPEAKER_DIGITS = 10;
const LATEST_TURNS = 20;

/** A finished turn as the commit appends it to the conversation's history. */
export function turnHistory(
  keyRing: KeyRing,
  context: TurnContext,
  answer: { text: string; interrupted: boolean; startsAnew: boolean; sources?: readonly CitedSource[] },
): TurnCommit['history'] {
  const { turn, question, newest } = context;
  const record: HistoryTurn = {
    version: 1,
    turnId: turn.turnId,
    messageIds: messagesAsked(context),
    atMs: turn.startedAtMs,
    speakerTag: newest.chat.kind === 'group' ? speakerTagOf(context) : undefined,
    accountId: context.account?.accountId,
    scene: markOf(context.scene),
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
  return { append: sealTurn(keyRing, turn.conversation.id, record), anew: answer.startsAnew ? true : undefined };
}

/** Undefined where it is the turn's own message alone. */
function messagesAsked({ turn, replaced }: TurnContext): readonly DeliveryId[] | undefined {
  if (replaced) return replaced.messageIds ?? [replaced.turnId];
  const asked = turn.messages.filter(({ message }) => message.parts.length > 0).map(({ deliveryId }) => deliveryId);
  return asked.length === 1 && asked[0] === turn.turnId ? undefined : asked;
}

function imageFields(images: readonly ImageRef[]): Pick<HistoryTurn, 'mediaIds' | 'imagePlaces'> {
  if (images.length === 0) return {};
  return { mediaIds: images.map(({ mediaId }) => mediaId), imagePlaces: images.map(({ place }) => place) };
}

/** Under the names by which people are told of them. */
function fileFields({ question: { files, language } }: TurnContext): HistoryTurn['files'] {
  return files.length === 0
    ? undefined
    : files.map(({ mediaId, name }) => ({ mediaId, name: shownName(name, language) }));
}

/** The files of an earlier question. */
export function filesOfTurn({ files = [] }: HistoryTurn): FileRef[] {
  return files.map(({ mediaId, name }) => ({ mediaId, name, isQuoted: false }));
}

/** The images of an earlier question, as far as they are known; whether they are still kept shows when they are read. */
export function imagesOfTurn({ mediaIds = [], imagePlaces = [], userText }: HistoryTurn): ImageRef[] {
  return mediaIds.map((mediaId, index) => ({ mediaId, place: imagePlaces[index] ?? userText.length }));
}

/**
 * Where the answer begins a thread, what was said is the beginning of that thread's conversation too: whoever goes on
 * there goes on from it.
 */
export function withThreadHistory(
  { keyRing, groupScope }: { keyRing: KeyRing; groupScope: GroupScope },
  { newest, turn }: TurnContext,
  outcome: Outcome,
): Outcome {
  const { opensThread, chat } = newest;
  const sealed = outcome.history?.append;
  if (opensThread === undefined || sealed === undefined) return outcome;
  const [said] = openTurns(keyRing, turn.conversation.id, [sealed]);
  if (!said) return outcome;
  const conversation = conversationOf({ ...newest, chat: { ...chat, threadId: opensThread } }, groupScope);
  return { ...outcome, threadHistory: { conversation, append: sealTurn(keyRing, conversation.id, said) } };
}

/** Keeps the question of a turn that got no answer, so that /retry can ask it again; it never enters a prompt. */
export function failedTurnHistory(
  keyRing: KeyRing,
  context: TurnContext,
  { startsAnew }: { startsAnew: boolean } = { startsAnew: context.replaced?.startsAnew ?? false },
): TurnCommit['history'] {
  const { text, images, files, quotedText } = context.question;
  if (text === '' && images.length === 0 && files.length === 0 && quotedText === undefined) return undefined;
  return turnHistory(keyRing, context, { text: '', interrupted: true, startsAnew });
}

/** The conversation's last question, whoever asked it. */
export function lastTurn(keyRing: KeyRing, { turn }: TurnContext): HistoryTurn | undefined {
  return openTurns(keyRing, turn.conversation.id, turn.history.slice(-1)).at(-1);
}

/** A stable name for a person within a group's prompt that tells nothing about them (SECURITY.md group-is-not-private). */
export function speakerTagOf({ newest }: Pick<TurnContext, 'newest'>): string {
  return `member-${personIdOf(newest, newest.sender.userId).slice(0, SPEAKER_DIGITS)}`;
}

/** The language of what somebody said last in the conversation; undefined where they said nothing yet, or only long ago. */
export function lastLanguage(keyRing: KeyRing, turn: TurnClaim, newest: InboundMessage): Language | undefined {
  const own = newest.chat.kind === 'group' ? speakerTagOf({ newest }) : undefined;
  // Files that came alone have no words.
  for (const sealed of turn.history.slice(-LATEST_TURNS).reverse()) {
    const [said] = openTurns(keyRing, turn.conversation.id, [sealed]);
    if (said && said.userText !== '' && said.speakerTag === own) return languageOfText(said.userText);
  }
  return undefined;
}
