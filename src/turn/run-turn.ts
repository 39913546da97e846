import { asError } from '../base/coded-error.ts';
import { MINUTE_MS, monotonicMs, type NowMs } from '../base/clock.ts';
import type { KeyRing } from '../base/key-ring.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import { openPreferences, type Preferences } from '../conversation/preferences.ts';
import type { Account } from '../identity/identity.ts';
import { IdentityError } from '../identity/identity-error.ts';
import { conversationOf, type GroupScope } from '../domain/conversation.ts';
import type { Platform } from '../platforms/platform.ts';
import type { InboundMessage, PlatformName } from '../domain/message.ts';
import type { Models } from '../policy/policy.ts';
import type { AfterCare } from '../reply/after-care.ts';
import { createLiveReply, type LiveReply, type LiveReplyOptions } from '../reply/live-reply.ts';
import { markSuperseded } from '../reply/mark-superseded.ts';
import { openNotices } from '../reply/notices.ts';
import type { ReplyReport } from '../reply/reply-report.ts';
import type { AnswerQuestion } from './ask/answer-question.ts';
import { behindLeftover, eraseWith, leftoverFor } from './earlier-leftover.ts';
import type { SummaryRequest } from './prompt/earlier-summary.ts';
import { questionOf, type Question } from './prompt/question.ts';
import type { RunSlashWord } from './commands/run-slash-word.ts';
import { sayTo } from './say-to.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';
import { SIGN_IN_TEXTS } from '../texts/sign-in-texts.ts';
import { toAsker } from './sign-in-words.ts';
import { formatStoredAnswer, readStoredAnswer } from './stored-answer.ts';
import { threadSpokenIn } from './commands/thread-index.ts';
import { setAside, unreadableRecords } from './set-aside.ts';
import type { SignInGate } from './sign-in-gate.ts';
import type { TurnReport } from './turn-ports.ts';
import type { TakeTypedCode } from './typed-codes.ts';
import type { TurnControls, TurnClaim, TurnCommit } from '../domain/turn.ts';
import type { Outcome } from './outcome.ts';
import { failedTurnHistory, lastLanguage, withThreadHistory } from './prompt/turn-history.ts';

/** A question that waited longer gets an apology instead of a surprise (SECURITY.md in-order). */
export const OLDEST_QUESTION_MS = 10 * MINUTE_MS;

export interface RunTurnOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  gate: SignInGate;
  runSlashWord: RunSlashWord;
  takeTypedCode: TakeTypedCode;
  answerQuestion: AnswerQuestion;
  groupScope: GroupScope;
  afterCare: AfterCare;
  nowMs: NowMs;
  log: Log;
  report: TurnReport & ReplyReport;
}

/** All that one turn works with. */
export interface TurnScene {
  turn: TurnClaim;
  controls: TurnControls;
  question: Question;
  /** The newest message; the answer belongs to it. */
  newest: InboundMessage;
  platform: Platform;
  live: LiveReply;
  /** What the sender chose in this chat. */
  preferences: Preferences;
  /** Who asks, once the gate has looked them up; absent while nobody is linked or sign-in is off. */
  account?: Account;
  /** The turn whose place this one takes (/retry). */
  replaced?: HistoryTurn;
  /** Set once it is known that what was said before does not belong to this question's conversation any more. */
  startsAnew?: true;
  /** How the turn ends, once that is decided; from then on a take-over must end it the same way. */
  decided?: Outcome;
}

/** A turn whose sender the gate let pass. */
export interface AdmittedScene extends TurnScene {
  /** The models that may answer, the one that does first. */
  models: Models;
  /** Lines that the person is told about this answer, apart from its text; more come while it is made. */
  notes: string[];
  /** What of the conversation was missing in this answer's prompt. */
  wish?: SummaryRequest | undefined;
}

/**
 * Runs one turn: one message (or several merged ones) to one outcome, shown in one live reply. Whatever goes wrong
 * inside becomes an outcome too; only an abort that must show nothing (`fenced`, `shutdown`, `yielded`) and a lost store are thrown.
 */
export function createRunTurn(options: RunTurnOptions): (controls: TurnControls) => Promise<TurnCommit> {
  return async (controls) => {
    const scene = setScene(options, controls);
    if (!scene) return setAside(options, controls);
    try {
      return await runScene(options, scene);
    } catch (error) {
      // Before the turn is given back: the next worker takes it at once, and must find what this one has posted.
      await scene.live.abandon();
      throw error;
    }
  };
}

async function runScene(options: RunTurnOptions, scene: TurnScene): Promise<TurnCommit> {
  const { report, keyRing } = options;
  const { turn, controls } = scene;
  const startedMs = monotonicMs();
  const outcome = withThreadHistory(options, scene, await decide(options, scene));
  throwIfUnwanted(controls.signal);
  scene.decided = outcome;

  if (outcome.stands) return { outcome: 'final', records: [...outcome.stands, ...unreadableRecords(turn)] };
  const isPrivate = scene.newest.chat.kind === 'private';
  const notices = openNotices(keyRing, turn.conversation, isPrivate ? turn.notices : []);
  const lines = [...notices.texts, ...(outcome.note === undefined ? [] : [outcome.note])];
  const status = lines.length > 0 ? lines.join('\n') : undefined;
  const leftover = leftoverFor(keyRing, scene, outcome);
  const erase = eraseWith(leftover, outcome.erase);
  const records = outcome.hold
    ? await scene.live.leaveOpen(outcome.text, outcome.mention)
    : await scene.live.finish(behindLeftover(leftover, outcome.text), status, outcome.thinking, outcome.mention);
  throwIfUnwanted(controls.signal);
  if (outcome.replaces !== undefined) await replaceOld(options, scene, outcome.replaces);
  const thread = threadSpokenIn(scene.newest, turn.conversation, outcome.threadHistory?.conversation);
  report.turnEnded({
    platform: scene.platform.name,
    turnId: turn.turnId,
    outcome: outcome.kind,
    durationMs: monotonicMs() - startedMs,
    waitedMs: turn.newestAgeMs + startedMs - turn.claimedAtMs,
  });
  return {
    outcome: outcome.hold ? 'held' : 'final',
    ...(outcome.hold && !isPrivate ? { heldIn: 'group' } : {}),
    records: [...records, ...unreadableRecords(turn)],
    ...(outcome.history ? { history: outcome.history } : {}),
    ...(outcome.threadHistory ? { threadHistory: outcome.threadHistory } : {}),
    ...(erase ? { erase } : {}),
    ...(outcome.history?.append !== undefined && thread ? { thread } : {}),
    ...(outcome.stopServed === undefined ? {} : { stopServed: outcome.stopServed }),
    ...(outcome.preferences ? { preferences: outcome.preferences } : {}),
    ...(outcome.usage ? { usage: outcome.usage } : {}),
    noticesShown: outcome.hold ? [] : notices.done,
  };
}

/** The visible apology for a turn that is given up (SECURITY.md poison-turns). */
export function createApology(options: RunTurnOptions): (turn: TurnClaim) => Promise<TurnCommit> {
  return async (turn) => {
    const controls: TurnControls = {
      claim: turn,
      signal: AbortSignal.any([]),
      pressure: () => 'none',
      fenced: () => undefined,
      stopped: () => undefined,
      storeAnswer: async () => true,
      // What is said instead of an answer is not worth keeping: an empty one is none.
      sealAnswer: () => '',
      isClaimHeld: () => false,
      yieldToHeld: async () => undefined,
    };
    const scene = setScene(options, controls);
    if (!scene) return setAside(options, controls);
    const records = await scene.live.finish(sayTo(scene, TURN_TEXTS.deadLetter));
    return { outcome: 'dead', records: [...records, ...unreadableRecords(turn)] };
  };
}

function setScene(options: RunTurnOptions, controls: TurnControls): TurnScene | undefined {
  const turn = controls.claim;
  const newest = turn.messages.at(-1)?.message;
  const platform = newest && options.platforms.get(newest.platform);
  if (!newest || !platform) return undefined;
  const question = questionOf(turn);
  const preferences = openPreferences(options.keyRing, turn.preferences, newest);
  if (preferences.language) question.language = preferences.language;
  // A bare slash word such as /stop tells no language; the conversation's last question does.
  else if (newest.slash && question.language === 'en') question.language = lastLanguage(options.keyRing, turn);
  const ids = turn.messages.map(({ deliveryId }) => deliveryId);
  const deliveryId = ids.at(-1) ?? turn.turnId;
  const { redis, keyRing, nowMs, log, report, afterCare } = options;
  // Named one by one: to copy all options for each turn costs as much as to seal its answer.
  const live = createLiveReply({
    redis,
    keyRing,
    nowMs,
    log,
    report,
    afterCare,
    platform,
    conversation: turn.conversation,
    epoch: turn.epoch,
    deliveryId,
    mergedIds: ids.slice(0, -1),
    startedAtMs: turn.startedAtMs,
    wasHandedOver: turn.wasHandedOver,
    wasBegun: turn.wasBegun,
    laterReplyHandle: newest.laterReplyHandle,
    asker: () => privatePlaceOf(newest, options.groupScope),
    replyTarget: newest.replyTarget,
    signal: controls.signal,
    stopped: () => controls.stopped(),
    language: question.language,
    fenced: () => controls.fenced(),
    storeAnswer: (text) => controls.storeAnswer(storedForm(scene, text)),
    sealAnswer: (text) => controls.sealAnswer(storedForm(scene, text)),
    isClaimHeld: () => controls.isClaimHeld(),
  });
  const scene: TurnScene = { turn, controls, question, newest, platform, live, preferences };
  return scene;
}

/** Where a message's sender is written to alone, whichever chat it was said in. */
function privatePlaceOf(
  newest: InboundMessage,
  groupScope: GroupScope,
): ReturnType<NonNullable<LiveReplyOptions['asker']>> {
  const { userId } = newest.sender;
  return { userId, privateChat: conversationOf({ ...newest, chat: { kind: 'private', id: userId } }, groupScope) };
}

/** /retry: one answer to a question is enough; the new one is visible now. */
function replaceOld({ redis }: RunTurnOptions, scene: TurnScene, deliveryId: string): Promise<void> {
  const { platform, question, turn } = scene;
  const { language } = question;
  return markSuperseded({ redis, platform, language }, { partition: turn.conversation.partition, deliveryId });
}

function storedForm({ decided }: TurnScene, text: string): string {
  return decided ? formatStoredAnswer(decided) : text;
}

/** The way through a turn, in order; the first that has an outcome ends it. */
async function decide(options: RunTurnOptions, scene: TurnScene): Promise<Outcome> {
  const { turn, controls, newest } = scene;
  try {
    if (turn.storedAnswer !== undefined) return readStoredAnswer(turn.storedAnswer);
    if (newest.slash) return await options.runSlashWord(scene, newest.slash);
    const taken = await options.takeTypedCode(scene);
    if (taken) return taken;
    const stands = turn.mayBeAnswered ? await scene.live.findWhole(placesBehind(scene)) : undefined;
    throwIfUnwanted(controls.signal);
    if (stands) return { kind: 'answered', text: '', stands };
    if (controls.signal.reason === 'stopped') return stoppedBeforeStart(options.keyRing, scene);
    // A worker's clock may step by minutes in the midst of a turn.
    if (turn.newestAgeMs + monotonicMs() - turn.claimedAtMs > OLDEST_QUESTION_MS) {
      return { kind: 'expired', ...(await expiredWords(scene)), history: failedTurnHistory(options.keyRing, scene) };
    }
    const admitted = await options.gate.admit(scene);
    if ('outcome' in admitted) return admitted.outcome;
    // Whoever may be answered now has signed in: what was held before that was said first.
    if (turn.heldCount > 0) await yieldToHeld(controls);
    if (admitted.account) scene.account = admitted.account;
    return await options.answerQuestion({ ...scene, models: admitted.models, notes: [] });
  } catch (error) {
    throwIfUnwanted(controls.signal);
    // While the store is away nothing can be said; the turn is given back and runs again when it is there.
    if (error instanceof IdentityError && error.code === 'store_away') throw error;
    return failure(options, scene, asError(error));
  }
}

/** Who signed in too late for a question in a group has not been kept waiting by us: it is only to be asked again. */
async function expiredWords(scene: TurnScene): Promise<Pick<Outcome, 'text' | 'mention'>> {
  if (!scene.turn.wasHeldInGroup) return { text: sayTo(scene, TURN_TEXTS.expired) };
  return toAsker(scene, sayTo(scene, SIGN_IN_TEXTS.groupTooOld));
}

/** Where the platform took the answers to what the same person wrote next. */
function placesBehind({ turn, newest }: TurnScene): string[] {
  const own = turn.behind.filter(({ message }) => message.sender.userId === newest.sender.userId);
  return own.flatMap(({ message: { replyTarget } }) => replyTarget ?? []);
}

/** @throws unless nothing was held */
async function yieldToHeld(controls: TurnControls): Promise<void> {
  await controls.yieldToHeld().catch((cause: unknown) => {
    throw new IdentityError('store_away', 'Held messages could not be brought back', { cause });
  });
  throwIfUnwanted(controls.signal);
}

function stoppedBeforeStart(keyRing: KeyRing, scene: TurnScene): Outcome {
  const { turn } = scene;
  return {
    kind: 'stopped',
    text: sayTo(scene, TURN_TEXTS.stopped),
    stopServed: turn.stop.seq,
    history: failedTurnHistory(keyRing, scene),
  };
}

/** An error that no room expected. It is logged under a reference that the person can pass on; a lost store is not hidden here. */
function failure({ log, keyRing }: RunTurnOptions, scene: TurnScene, error: Error): Outcome {
  const reference = scene.turn.turnId.slice(0, 8);
  log.error({ error, reference }, 'a turn failed');
  return {
    kind: 'failed',
    text: sayTo(scene, TURN_TEXTS.internal, { reference }),
    history: failedTurnHistory(keyRing, scene),
  };
}

function throwIfUnwanted(signal: AbortSignal): void {
  if (signal.reason === 'fenced' || signal.reason === 'shutdown' || signal.reason === 'yielded')
    throw new Error(`The turn ended early: ${signal.reason as string}`);
}
