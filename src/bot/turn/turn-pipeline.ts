import { asError, CodedError } from '../../shared/coded-error.ts';
import { monotonicMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import { inStep } from '../../shared/tracing/tracing.ts';
import { IdentityError } from '../identity/identity-error.ts';
import { translate } from './translate.ts';
import { isSuperseded } from '../reply/turn-abort.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import { SIGN_IN_TEXTS } from '../i18n/sign-in-texts.ts';
import { addressSender } from './sign-in-words.ts';
import { readStoredAnswer } from './stored-answer.ts';
import { referenceOf } from '../domain/turn-trace.ts';
import type { TurnControls } from '../domain/turn.ts';
import type { AnswerQuestion, Outcome } from './outcome.ts';
import { nameReferences } from './prompt/name-references.ts';
import { failedTurnHistory } from './prompt/turn-history.ts';
import type { TurnContext } from './turn-context.ts';
import type { RunSlashWord } from './commands/run-slash-word.ts';
import type { SignInGate } from './sign-in-gate.ts';
import type { TakeTypedCode } from './typed-codes.ts';

/** The steps of a turn, in order; the first step with an outcome ends it. */
export type DecideOutcome = (context: TurnContext) => Promise<Outcome>;

export interface DecideOutcomeOptions {
  runSlashWord: RunSlashWord;
  takeTypedCode: TakeTypedCode;
  gate: SignInGate;
  answerQuestion: AnswerQuestion;
  keyRing: KeyRing;
  /** Older questions get an apology instead of a late answer (SECURITY.md in-order). */
  maxAgeMs: number;
  log: Log;
}

export function createDecideOutcome(options: DecideOutcomeOptions): DecideOutcome {
  return (context) => decideOutcome(options, context);
}

async function decideOutcome(options: DecideOutcomeOptions, unadmitted: TurnContext): Promise<Outcome> {
  let context = unadmitted;
  const { turn, controls, newest } = context;
  try {
    if (turn.storedAnswer !== undefined) {
      turn.trace.note('a', 'stored');
      return readStoredAnswer(turn.storedAnswer);
    }
    // In a turn of several messages, a message that an edit turned into a command remains a part of the question.
    if (newest.slash && turn.messages.length === 1) return await options.runSlashWord(context, newest.slash);
    const taken = await options.takeTypedCode(context);
    if (taken) return taken;
    const stands = turn.mayBeAnswered ? await context.live.findCompleteAnswer(laterReplyTargets(context)) : undefined;
    throwIfSuperseded(controls.signal);
    if (stands) {
      turn.trace.note('a', 'posted');
      return { kind: 'answered', text: '', postedRecords: stands };
    }
    if (controls.signal.reason === 'stopped') return stoppedBeforeStart(options.keyRing, context);
    // A worker's clock may step by minutes during a turn. A turn that has begun does not expire: part of its answer may be shown.
    if (!turn.wasBegun && turn.chargedAgeMs + monotonicMs() - turn.claimedAtMs > options.maxAgeMs) {
      return {
        kind: 'expired',
        ...(await expiredWords(context)),
        ...failedTurnHistory(options.keyRing, context),
      };
    }
    const admitted = await inStep('sign-in gate', () => options.gate.admit(unadmitted));
    if ('outcome' in admitted) return admitted.outcome;
    // The person is admitted now, so held messages can be released. They were sent earlier and must be answered first.
    if (turn.heldCount > 0) await yieldToHeld(controls);
    const { account = context.account, models, rule, scene, budgets } = admitted;
    context = { ...context, account };
    const question = await nameReferences(context);
    return await options.answerQuestion({ ...context, question, models, rule, scene, budgets });
  } catch (error) {
    throwIfSuperseded(controls.signal);
    // Without the identity store nothing can be decided; the turn is released and runs again when the store is back.
    if (error instanceof IdentityError && error.code === 'store_away') throw error;
    return failure(options, context, asError(error));
  }
}

/**
 * A group question whose sender signed in too late did not wait because of Parley: the sender is only asked to repeat it.
 */
async function expiredWords(context: TurnContext): Promise<Pick<Outcome, 'text' | 'mention'>> {
  const reference = referenceOf(context.turn.turnId);
  if (!context.turn.wasHeldInGroup) return { text: translate(context, TURN_TEXTS.expired, { reference }) };
  return addressSender(context, translate(context, SIGN_IN_TEXTS.groupTooOld));
}

/** Reply targets of the same person's next messages. */
function laterReplyTargets({ turn, newest }: TurnContext): string[] {
  const own = turn.behind.filter(({ message }) => message.sender.userId === newest.sender.userId);
  return own.flatMap(({ message: { replyTarget } }) => replyTarget ?? []);
}

/** @throws IdentityError `store_away`, or an error if held messages run first */
async function yieldToHeld(controls: TurnControls): Promise<void> {
  await controls.yieldToHeld().catch((cause: unknown) => {
    throw new IdentityError('store_away', 'Held messages could not be restored', { cause });
  });
  throwIfSuperseded(controls.signal);
}

function stoppedBeforeStart(keyRing: KeyRing, context: TurnContext): Outcome {
  const { turn } = context;
  return {
    kind: 'stopped',
    text: translate(context, TURN_TEXTS.stopped),
    stopServed: turn.stop.seq,
    ...failedTurnHistory(keyRing, context),
  };
}

/** An unexpected error. It is logged under a reference that the person can report. A lost store is not handled here. */
function failure(
  { log, keyRing }: Pick<DecideOutcomeOptions, 'log' | 'keyRing'>,
  context: TurnContext,
  error: Error,
): Outcome {
  const trace = context.turn.turnId;
  const reference = referenceOf(trace);
  log.error({ error, reference, trace }, 'a turn failed');
  context.turn.trace.note('x', error instanceof CodedError ? String(error.code) : error.name);
  return {
    kind: 'failed',
    text: translate(context, TURN_TEXTS.internal, { reference }),
    ...failedTurnHistory(keyRing, context),
  };
}

/** @throws if nothing more of the turn may be shown, because another worker owns it or will own it */
export function throwIfSuperseded(signal: AbortSignal): void {
  if (isSuperseded(signal)) throw new Error(`The turn ended early: ${String(signal.reason)}`);
}
