import { openPreferences } from './conversation/preferences.ts';
import { conversationOf, type GroupScope } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { Platform } from '../platforms/platform.ts';
import { platformForMessage } from '../platforms/of-tenant.ts';
import { createLiveReply } from '../reply/create-live-reply.ts';
import type { LiveReplyOptions, SharedReplyOptions } from '../reply/live-reply.ts';
import { questionOf, type Question } from './prompt/question.ts';
import { formatStoredAnswer } from './stored-answer.ts';
import type { TurnClaim, TurnControls } from '../domain/turn.ts';
import type { Outcome } from './outcome.ts';
import { lastLanguage } from './prompt/turn-history.ts';
import type { TurnContext } from './turn-context.ts';

/** A turn that is ready to run. */
export interface OpenedTurn {
  context: TurnContext;
  /**
   * Sets the outcome. Answers stored from now on include it, so that a worker that takes over ends the turn the same way.
   */
  decided(outcome: Outcome): void;
}

/**
 * Opens a turn: collects the question, its sender and its place, and creates the live reply. Undefined if no message of the
 * turn can be read or answered.
 */
export type OpenTurn = (controls: TurnControls) => OpenedTurn | undefined;

export interface OpenTurnOptions {
  platforms: ReadonlyMap<PlatformName, Platform>;
  groupScope: GroupScope;
  keyRing: KeyRing;
  reply: SharedReplyOptions;
}

export function createOpenTurn(options: OpenTurnOptions): OpenTurn {
  return (controls) => openTurn(options, controls);
}

function openTurn(options: OpenTurnOptions, controls: TurnControls): OpenedTurn | undefined {
  const turn = controls.claim;
  // A deleted message has no content; the messages merged with it are still answered.
  const said = turn.messages.findLast(({ message }) => message.parts.length > 0) ?? turn.messages.at(-1);
  const newest = said?.message;
  const platform = newest && platformForMessage(options.platforms, newest);
  if (!newest || !platform) return undefined;
  const asked = questionOf(turn);
  const preferences = openPreferences(options.keyRing, turn.preferences, newest);
  const question = { ...asked, language: preferences.language ?? languageIn(options.keyRing, turn, asked, newest) };
  let outcome: Outcome | undefined;
  const storedForm = (text: string) => (outcome ? formatStoredAnswer(outcome) : text);
  const ids = turn.messages.map(({ deliveryId }) => deliveryId);
  const deliveryId = ids.at(-1) ?? turn.turnId;
  const live = createLiveReply({
    deps: options.reply,
    claim: turn,
    controls: {
      signal: controls.signal,
      fenced: () => controls.fenced(),
      stopped: () => controls.stopped(),
      storeAnswer: (text) => controls.storeAnswer(storedForm(text)),
      sealAnswer: (text) => controls.sealAnswer(storedForm(text)),
      isClaimHeld: () => controls.isClaimHeld(),
      waitIdle: (wait) => controls.waitIdle(wait),
    },
    platform,
    deliveryId,
    mergedIds: ids.slice(0, -1),
    laterReplyHandle: newest.laterReplyHandle,
    asker: () => privatePlaceOf(newest, options.groupScope),
    replyTarget: newest.replyTarget,
    language: question.language,
  });
  const context: TurnContext = { turn, controls, question, newest, platform, live, preferences };
  return { context, decided: (made) => (outcome = made) };
}

/**
 * A slash command such as /stop, a bare mention or a file alone does not reveal a language; the sender's last message in the conversation
 * does.
 */
function languageIn(keyRing: KeyRing, turn: TurnClaim, asked: Question, newest: InboundMessage): Language {
  const isWordless = asked.text === '' && asked.quotedText === undefined;
  const tellsNothing = isWordless || (newest.slash !== undefined && asked.language === 'en');
  return (tellsNothing ? lastLanguage(keyRing, turn, newest) : undefined) ?? asked.language;
}

/** The private chat with a message's sender, whichever chat the message is from. */
function privatePlaceOf(
  newest: InboundMessage,
  groupScope: GroupScope,
): ReturnType<NonNullable<LiveReplyOptions['asker']>> {
  const { userId } = newest.sender;
  return { userId, privateChat: conversationOf({ ...newest, chat: { kind: 'private', id: userId } }, groupScope) };
}
