import { inBackground } from '../../../shared/in-background.ts';
import { asError } from '../../../shared/coded-error.ts';
import { randomToken, sameSecret } from '../../../shared/crypto/ids.ts';
import type { CallbackQuery } from '../../../bot/identity/browser/request-guards.ts';
import { IdentityError } from '../../../bot/identity/identity-error.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import type { ProbeTools, Round } from './round.ts';

/**
 * State of the browser: `ready` to leave for the service, `away` at the service, `working` while its code is tested,
 * `signing-out` at the service, or `over`.
 */
export type Phase = 'ready' | 'away' | 'working' | 'signing-out' | 'over';

/** The sequence of sign-ins. Independent of HTTP; the server decides who may use it. */
export interface ProbeSession {
  readonly phase: Phase;
  /** 1-based. */
  readonly step: number;
  readonly round: Round | undefined;
  readonly stepCount: number;
  /**
   * The address for the next redirect; undefined if there is none in this phase. A repeated call restarts the current step.
   */
  depart(): Promise<string | undefined>;
  /**
   * Processes a callback. Returns false and changes nothing if it does not belong to the current step.
   * @param back all parameters, and the error code if it is a known one
   */
  arrive(query: CallbackQuery, back: { all: URLSearchParams; error: string | undefined }): boolean;
  /** Called if the browser did not return from this step. */
  skip(): void;
  /** Called when the browser has signed out at the service. */
  signedOut(): void;
  /** Ends the session immediately. */
  end(): void;
}

export interface SessionOptions {
  tools: Pick<ProbeTools, 'facts' | 'secrets' | 'signIn'>;
  rounds: readonly Round[];
  /** Called with each finding as soon as it is known. */
  tell(lines: readonly CheckResult[]): void;
  /** Called once, when all rounds have ended. */
  onOver(): void;
}

const NO_RETURN = 'the browser did not return from the sign-in service';

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
  /** Runs an experiment in the background. The browser's page reloads until it is done. */
  const work = async (run: () => Promise<CheckResult[]>, next: () => void) => {
    phase = 'working';
    try {
      const lines = await run();
      if (round() !== undefined) tell(lines);
    } catch (thrown) {
      tell([{ name: 'Probe', verdict: 'fault', detail: `the step failed (${asError(thrown).name})` }]);
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
        return await current.startRedirect(state);
      } catch (thrown) {
        if (!(thrown instanceof IdentityError)) throw thrown;
        tell(current.onNoCode(thrown.message));
        goOn();
        return undefined;
      }
    },
    arrive(query, { all, error }) {
      const current = round();
      if (!current || phase !== 'away') return false;
      const isFirst = facts.state.echoed + facts.state.missing === 0;
      if (query.state !== undefined && !sameSecret(query.state, state)) {
        // In the first step, a changed `state` means that the service alters it. In later steps, it means a foreign
        // callback.
        if (!isFirst) return false;
        [facts.isStateAltered, facts.isStuck] = [true, true];
        tell([
          {
            name: 'State',
            verdict: 'fault',
            detail: 'is returned changed',
            nextStep: 'Ask the operator of the sign-in service to return state unchanged',
          },
        ]);
        goOn();
        return true;
      }
      const { code } = query;
      const hasCode = code !== undefined && !query.isError;
      // Once `state` has been returned, a callback without it does not belong to this step (SECURITY.md state-by-mode).
      if (query.state === undefined && facts.state.echoed > 0) {
        if (hasCode) facts.state.missing += 1;
        return false;
      }
      if (!hasCode) {
        tell(current.onNoCode(`the sign-in service returned the browser with an error (${error ?? 'unknown error'})`));
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
      tell(current.onNoCode(NO_RETURN));
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
    if (signIn.state === 'required') return { name, verdict: 'ok', detail: 'is returned unchanged' };
    const nextStep = 'Set SIGN_IN_STATE=required, the stronger option';
    return { name, verdict: 'warning', detail: 'is returned unchanged', nextStep };
  }
  if (signIn.type !== 'oauth2') {
    const nextStep = 'Contact the operator of the sign-in service: OAuth 2.0 requires that state is returned unchanged';
    return { name, verdict: 'fault', detail: 'is not returned', nextStep };
  }
  if (signIn.state === 'absent') return { name, verdict: 'ok', detail: 'is not returned, as configured' };
  return { name, verdict: 'fault', detail: 'is not returned', nextStep: 'Set SIGN_IN_STATE=absent' };
}
