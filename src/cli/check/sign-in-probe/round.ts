import type { Bilingual } from '../../../shared/text/texts.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import type { Config } from '../../../bot/config/config.ts';
import type { ProbeFacts } from './facts.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { ServiceCalls } from './service-calls.ts';

/** What the experiments work with. */
export interface ProbeTools {
  calls: ServiceCalls;
  facts: ProbeFacts;
  secrets: KnownSecrets;
  signIn: Config['signIn'];
  /** A platform's user id to compare the profile with. */
  person?: string;
  /** How old the codes are that are tried, in milliseconds, and how old the specification lets one become. */
  codeAgesMs: readonly number[];
  codeLifeMs: number;
  /** Resolves after this long; early, when the probe ends. */
  wait(ms: number): Promise<void>;
}

/** A code or ticket as it came back, with when (`performance.now()`). */
export interface ArrivedCode {
  code: string;
  /** The whole return. */
  query: URLSearchParams;
  /** That the browser left with. */
  state: string;
  arrivedAtMs: number;
}

/** One sign-in and what is tried with its code. The lines it gives are findings; facts it puts down for the settings. */
export interface Round {
  title: Bilingual;
  /** Where the browser goes with this state. @throws IdentityError where the provider has to be asked first, and cannot be */
  leave(state: string): Promise<string>;
  /** Whether there is still something to learn from it; asked right before. */
  isNeeded(): boolean;
  run(arrived: ArrivedCode): Promise<CheckResult[]>;
  /** The browser came back with an error, or the administrator says that it did not come back. */
  cameToNothing(how: string): CheckResult[];
  /** What is tried after the browser has signed out at the service; only the last round has it. */
  afterSignOut?: { isWanted(): boolean; run(): Promise<CheckResult[]> };
}

/** The specification's authorize address with these parameters besides its own. */
export function leaveWith({ calls }: Pick<ProbeTools, 'calls'>, parameters: Readonly<Record<string, string>> = {}) {
  return (state: string): Promise<string> => Promise.resolve(calls.authorizeUrl({ state, ...parameters }));
}
