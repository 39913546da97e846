import { inBackground } from '../../../shared/in-background.ts';
import { asError } from '../../../shared/coded-error.ts';
import { randomToken, sameSecret } from '../../../shared/crypto/ids.ts';
import type { CallbackQuery } from '../../../bot/identity/browser/request-guards.ts';
import { IdentityError } from '../../../bot/identity/identity-error.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import type { ProbeTools, Round } from './round.ts';

/**
 * Where the one browser is: `ready` to leave for the service, `away` there, back with its code being tried (`working`),
 * `signing-out` there, or done (`over`).
 */
export type Phase = 'ready' | 'away' | 'working' | 'signing-out' | 'over';

/** The chain of sign-ins, one after the other. It knows nothing of HTTP; who may speak to it is the server's affair. */
export interface ProbeSession {
  readonly phase: Phase;
  /** From 1. */
  readonly step: number;
  readonly round: Round | undefined;
  readonly stepCount: number;
  /** The address to go to now; undefined when this is not the time, or there is none. Asking again begins the same step anew. */
  depart(): Promise<string | undefined>;
  /**
   * Takes what came back; false when it does not belong to the step that is under way, and then nothing has changed.
   * @param back all that came, and the error code that came instead of a code, where it is one that is known
   */
  arrive(query: CallbackQuery, back: { all: URLSearchParams; error: string | undefined }): boolean;
  /** The browser did not come back from this step. */
  skip(): void;
  /** The browser has signed out at the service. */
  signedOut(): void;
  /** Ends now, whatever is open. */
  end(): void;
}

export interface SessionOptions {
  tools: Pick<ProbeTools, 'facts' | 'secrets' | 'signIn'>;
  rounds: readonly Round[];
  /** Called with each finding as soon as it is known. */
  tell(lines: readonly CheckResult[]): void;
  /** Called once, when nothing is left to try. */
  onOver(): void;
}

const NO_RETURN = 'the browser did not come back from the sign-in service';

export function createSession({ tools, rounds, tell, onOver }: SessionOptions): ProbeSession {
  const { facts, secrets } = tools;
  let [index, phase, state] = [0, 'ready' as Phase, ''];
  const round = () => (phase === 'over' ? undefined : rounds[index]);

  const finish = () => {
    if (phase === 'over') return;
    phase = 'over';
    onOver();
  };
  const goOn = () => {
    if (phase === 'over') return;
    do index += 1;
    while (index < rounds.length && rounds[index]?.isNeeded() !== true);
    if (facts.isStuck === true || index >= rounds.length) finish();
    else phase = 'ready';
  };
  /** Runs an experiment beside the requests: the browser's page looks again until it is done. */
  const work = async (run: () => Promise<CheckResult[]>, next: () => void) => {
    phase = 'working';
    try {
      const lines = await run();
      if (round() !== undefined) tell(lines);
    } catch (thrown) {
      tell([{ name: 'Probe', verdict: 'fault', detail: `a step itself failed (${asError(thrown).name})` }]);
    }
    next();
  };
  const signOutOrGoOn = () => {
    if (phase !== 'over' && rounds[index]?.afterSignOut?.isWanted() === true) phase = 'signing-out';
    else goOn();
  };

  return {
    get phase() {
      return phase;
    },
    get step() {
      return Math.min(index + 1, rounds.length);
    },
    get round() {
      return round();
    },
    stepCount: rounds.length,
    async depart() {
      const current = round();
      if (!current || (phase !== 'ready' && phase !== 'away')) return undefined;
      phase = 'away';
      state = randomToken();
      secrets.add(state);
      try {
        return await current.leave(state);
      } catch (thrown) {
        if (!(thrown instanceof IdentityError)) throw thrown;
        tell(current.cameToNothing(thrown.message));
        goOn();
        return undefined;
      }
    },
    arrive(query, { all, error }) {
      const current = round();
      if (!current || phase !== 'away') return false;
      const isFirst = facts.state.echoed + facts.state.missing === 0;
      if (query.state !== undefined && !sameSecret(query.state, state)) {
        // Only the first step can tell a service that changes `state` from a return that is not ours.
        if (!isFirst) return false;
        [facts.isStateAltered, facts.isStuck] = [true, true];
        tell([
          { name: 'State', verdict: 'fault', detail: 'comes back changed', nextStep: 'Ask for it as it was sent' },
        ]);
        goOn();
        return true;
      }
      const { code } = query;
      const hasCode = code !== undefined && !query.isError;
      // Once `state` has come back, a return without it is no return of this step (SECURITY.md state-by-mode).
      if (query.state === undefined && facts.state.echoed > 0) {
        if (hasCode) facts.state.missing += 1;
        return false;
      }
      if (!hasCode) {
        tell(
          current.cameToNothing(
            `the sign-in service sent the browser back with an error (${error ?? 'not a known one'})`,
          ),
        );
        goOn();
        return true;
      }
      facts.state[query.state === undefined ? 'missing' : 'echoed'] += 1;
      if (isFirst) tell([judgeState(tools)]);
      secrets.add(code);
      const arrived = { code, query: all, state, arrivedAtMs: performance.now() };
      inBackground(() => work(() => current.run(arrived), signOutOrGoOn));
      return true;
    },
    skip() {
      const current = round();
      if (!current || (phase !== 'away' && phase !== 'ready')) return;
      tell(current.cameToNothing(NO_RETURN));
      goOn();
    },
    signedOut() {
      const after = round()?.afterSignOut;
      if (phase === 'signing-out' && after) inBackground(() => work(after.run, goOn));
    },
    end: finish,
  };
}

function judgeState({ facts, signIn }: SessionOptions['tools']): CheckResult {
  const name = 'State';
  if (facts.state.echoed > 0) {
    if (signIn.state === 'required') return { name, verdict: 'ok', detail: 'comes back as it was sent' };
    const nextStep = 'Set SIGN_IN_STATE=required, the stronger of the two';
    return { name, verdict: 'warning', detail: 'comes back as it was sent', nextStep };
  }
  if (signIn.type !== 'oauth2') {
    const nextStep = 'Ask who runs the sign-in service: its protocol returns what was sent';
    return { name, verdict: 'fault', detail: 'does not come back', nextStep };
  }
  if (signIn.state === 'absent') return { name, verdict: 'ok', detail: 'does not come back, as set' };
  return { name, verdict: 'fault', detail: 'does not come back', nextStep: 'Set SIGN_IN_STATE=absent' };
}
