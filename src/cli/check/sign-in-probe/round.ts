import type { Bilingual } from '../../../shared/text/texts.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import type { Config } from '../../../bot/config/config.ts';
import { resultsOf } from '../results-of.ts';
import type { ProbeFacts } from './facts.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { ServiceCalls } from './service-calls.ts';

/** The tools of the experiments. */
export interface ProbeTools {
  calls: ServiceCalls;
  facts: ProbeFacts;
  secrets: KnownSecrets;
  signIn: Config['signIn'];
  /** A platform user id to compare with the profile. */
  person?: string;
  /** The code ages to test, and the specified lifetime of a code. Milliseconds. */
  codeAgesMs: readonly number[];
  codeLifeMs: number;
  /** Resolves after this time, or earlier if the probe ends. */
  wait(ms: number): Promise<void>;
}

/** A returned code or ticket with its arrival time (`performance.now()`). */
export interface ArrivedCode {
  code: string;
  /** All callback parameters. */
  query: URLSearchParams;
  /** The state sent with the request. */
  state: string;
  arrivedAtMs: number;
}

/** One sign-in and the experiments with its code. Returns findings and records facts for the suggested settings. */
export interface Round {
  title: Bilingual;
  /**
   * The address to redirect the browser to.
   * @throws IdentityError if the provider must be queried first and the query fails
   */
  startRedirect(state: string): Promise<string>;
  /** Whether this round can still yield new facts. Called immediately before it. */
  isNeeded(): boolean;
  run(arrived: ArrivedCode): Promise<CheckResult[]>;
  /** Called if the browser returned with an error, or the administrator reports that it did not return. */
  onNoCode(how: string): CheckResult[];
  /** Experiment after the browser has signed out at the service. Only the last round has one. */
  afterSignOut?: { isWanted(): boolean; run(): Promise<CheckResult[]> };
}

/** The specified authorization address with additional parameters. */
export function leaveWith({ calls }: Pick<ProbeTools, 'calls'>, parameters: Readonly<Record<string, string>> = {}) {
  return (state: string): Promise<string> => Promise.resolve(calls.authorizeUrl({ state, ...parameters }));
}

/** The finding of a round whose code did not arrive. */
export function notTried(name: string) {
  return (how: string): CheckResult[] => [resultsOf(name).warning(how, 'Run the probe again')];
}
