import { monotonicMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { describeSpan, isTracing } from '../../shared/tracing/tracing.ts';
import { fieldsToRead, messageFields, withFields } from '../domain/message-record.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { personIdOf, type ConversationRef, type GroupScope } from '../domain/conversation.ts';
import type { ReplyAction } from '../reply/live-reply.ts';
import { markSuperseded } from '../reply/mark-superseded.ts';
import { openNotices } from '../reply/notices.ts';
import { threadSpokenIn } from './commands/thread-index.ts';
import { unreadableRecords, type RejectUnreadable } from './reject-unreadable.ts';
import type { TurnReport } from './turn-ports.ts';
import type { TurnControls, TurnCommit } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { unansweredChange } from './conversation/unanswered-store.ts';
import { withThreadHistory } from './prompt/turn-history.ts';
import type { Outcome } from './outcome.ts';
import type { TurnContext } from './turn-context.ts';
import { aiMarkOf, aiMarkWords, type AiMarkSetting } from './ai-mark.ts';
import { throwIfSuperseded, type DecideOutcome } from './turn-pipeline.ts';
import type { OpenTurn, OpenedTurn } from './open-turn.ts';
import { openDeferredMessage, type DeferredMessage } from '../reply/follow-ups/deferred-messages.ts';

export interface RunTurnOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  groupScope: GroupScope;
  openTurn: OpenTurn;
  rejectUnreadable: RejectUnreadable;
  decideOutcome: DecideOutcome;
  aiMark: AiMarkSetting;
  report: Pick<TurnReport, 'turnEnded'>;
  /** Records that the answer being written may turn a thread into a followed one. */
  noteAnswerEnding(thread: ConversationRef): Promise<void>;
}

/**
 * Runs one turn: one message (or several merged ones) to one outcome, shown in one live reply. Errors inside become outcomes
 * too. Throws only for an abort that must show nothing (`fenced`, `shutdown`, `yielded`) and a lost store.
 */
export function createRunTurn(options: RunTurnOptions): (controls: TurnControls) => Promise<TurnCommit> {
  return async (controls) => {
    const opened = options.openTurn(controls);
    if (!opened) return options.rejectUnreadable(controls);
    try {
      return await runOpenTurn(options, opened);
    } catch (error) {
      // Must happen before the turn is released: the next worker claims it at once and must find the posts of this one.
      await opened.context.live.abandon();
      throw error;
    }
  };
}

async function runOpenTurn(options: RunTurnOptions, { context, decided }: OpenedTurn): Promise<TurnCommit> {
  const { report, keyRing } = options;
  const { turn, controls } = context;
  const startedMs = monotonicMs();
  const outcome = withThreadHistory(options, context, await options.decideOutcome(context));
  throwIfSuperseded(controls.signal);
  turn.trace.note('c', outcome.kind);
  decided(outcome);

  if (outcome.postedRecords)
    return { outcome: 'final', records: [...outcome.postedRecords, ...unreadableRecords(turn)] };
  const isPrivate = context.newest.chat.kind === 'private';
  const notices = openNotices(keyRing, turn.conversation, isPrivate ? turn.notices : []);
  const leftover = leftoverFor(keyRing, context, outcome);
  const thread = threadSpokenIn(context.newest, turn.conversation, outcome.threadHistory?.conversation);
  const hasHistory = outcome.history?.append !== undefined;
  const followed =
    hasHistory && thread && mayContinueThread(context) ? { ...turn.conversation, id: thread.id } : undefined;
  const isGone = await isRetracted(options, context, outcome);
  if (followed && !isGone) await options.noteAnswerEnding(followed);
  const records = await (isGone
    ? context.live.retract(outcome.text)
    : outcome.hold
      ? context.live.leaveOpen(outcome.text, outcome.mention)
      : finishReply(options.aiMark, context, outcome, { leftover, notices: notices.texts }));
  throwIfSuperseded(controls.signal);
  if (outcome.replaces !== undefined) await replaceOld(options, context, outcome.replaces);
  if (isTracing()) describeSpan({ 'parley.platform': context.platform.name, 'parley.outcome': outcome.kind });
  report.turnEnded({
    platform: context.platform.name,
    turnId: turn.turnId,
    outcome: outcome.kind,
    durationMs: monotonicMs() - startedMs,
    waitedMs: turn.newestAgeMs + startedMs - turn.claimedAtMs,
    accountId: outcome.said?.accountId ?? context.account?.accountId,
  });
  return {
    outcome: outcome.hold ? 'held' : 'final',
    heldIn: outcome.hold && !isPrivate ? 'group' : undefined,
    records: [...withOrigin(records, context, outcome), ...unreadableRecords(turn)],
    history: outcome.history,
    threadHistory: outcome.threadHistory,
    erase: eraseWith(leftover, outcome.erase),
    thread: hasHistory ? thread : undefined,
    followed,
    stopServed: outcome.stopServed,
    preferences: outcome.preferences,
    usage: outcome.usage,
    unanswered: unansweredBy(context, outcome),
    budgets: outcome.budgets,
    noticesShown: outcome.hold ? [] : notices.done,
  };
}

/** Ends the live reply with the whole text, below it the notices, the note and the mark of AI texts. */
function finishReply(
  aiMark: AiMarkSetting,
  { live, question: { language }, turn }: TurnContext,
  outcome: Outcome,
  { leftover, notices }: { leftover: DeferredMessage | undefined; notices: readonly string[] },
): Promise<TurnCommit['records']> {
  const mark = aiMarkOf(aiMark, outcome, { language, turnId: turn.turnId });
  // An earlier answer needs the mark before the reply to a command too.
  const markWords = mark?.words ?? (leftover && aiMarkWords(aiMark, language));
  const lines = [...notices, outcome.note, markWords].filter((line) => line !== undefined);
  return live.finish(prependLeftover(leftover, outcome.text), {
    status: lines.length > 0 ? lines.join('\n') : undefined,
    thinking: outcome.thinking,
    mention: outcome.mention,
    fileHeader: mark?.fileHeader ?? outcome.fileHeader,
    offers: OFFERS[outcome.kind],
  });
}

/** Commands and pauses do not count as unanswered questions. */
function unansweredBy({ newest, turn }: TurnContext, { kind, unanswered }: Outcome): TurnCommit['unanswered'] {
  const reason = newest.slash ? undefined : kind === 'refused' ? kind : unanswered;
  if (reason === undefined) return undefined;
  return unansweredChange(turn, personIdOf(newest, newest.sender.userId), reason);
}

/** Buttons at an answer, by outcome; none at the reply to a command and at an invitation. */
const OFFERS: Readonly<Partial<Record<Outcome['kind'], readonly ReplyAction[]>>> = {
  answered: ['rate', 'retry'],
  interrupted: ['rate', 'retry'],
  stopped: ['retry'],
  failed: ['retry'],
  expired: ['retry'],
  busy: ['retry'],
  paused: ['retry'],
};

/** Adds the answering model and the policy rule to the record of the answer, for ratings. */
function withOrigin(
  records: TurnCommit['records'],
  { turn }: TurnContext,
  { model, rule }: Outcome,
): TurnCommit['records'] {
  const origin = messageFields({ answeredBy: model, rule });
  return records.map((one) => (one.id === turn.turnId ? { ...one, fields: withFields(one.fields, origin) } : one));
}

/** Maximum length of a partial answer that is removed together with its deleted question. */
const BEGINNING_CHARS = 200;

/**
 * Whether the answer was stopped near its beginning because its question was deleted. Then nothing of it remains. A longer
 * answer stays, with the note that it was stopped (SECURITY.md taken-back).
 */
async function isRetracted({ redis }: RunTurnOptions, { turn }: TurnContext, outcome: Outcome): Promise<boolean> {
  if (outcome.kind !== 'stopped' || outcome.text.length > BEGINNING_CHARS) return false;
  const { partition } = turn.conversation;
  const [deleted] = fieldsToRead('deleted');
  const marks = await Promise.all(
    turn.messages.map(({ deliveryId }) => redis.hget(messageKey(partition, deliveryId), deleted)),
  );
  return marks.every((mark) => mark === '1');
}

/** Whether the thread may continue without mentioning the bot; private chats need no mention. */
function mayContinueThread({ platform, newest }: TurnContext): boolean {
  return platform.followsThreads === true && newest.chat.kind === 'group';
}

/** /retry: supersedes the old answer, now that the new one is visible. */
function replaceOld(
  { redis }: Pick<RunTurnOptions, 'redis'>,
  context: TurnContext,
  deliveryId: DeliveryId,
): Promise<void> {
  const { platform, question, turn } = context;
  const { language } = question;
  return markSuperseded({ redis, platform, language }, { partition: turn.conversation.partition, deliveryId });
}

/** Text left by an earlier answer for the person's next private reply. None in a group or while a question is held. */
function leftoverFor(keyRing: KeyRing, { newest, turn }: TurnContext, { hold }: Outcome): DeferredMessage | undefined {
  if (newest.chat.kind !== 'private' || hold) return undefined;
  return openDeferredMessage(keyRing, turn.conversation, turn.leftovers);
}

function prependLeftover(leftover: DeferredMessage | undefined, text: string): string {
  return leftover ? `${leftover.text}\n\n---\n\n${text}` : text;
}

/** Data erased by the commit: the leftover that was just shown; with /forget, all leftovers. */
function eraseWith(leftover: DeferredMessage | undefined, erase: TurnCommit['erase']): TurnCommit['erase'] {
  if (!leftover) return erase;
  const { list, record } = leftover;
  if (erase) return { ...erase, drop: [...erase.drop, list] };
  return { remove: [{ list, record }], drop: [] };
}
