import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import type { Config } from '../../../bot/config/config.ts';
import { checkLine, lookOf, type CheckOutput } from '../run-checks.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { experimentsFor, type Experiments } from './experiments.ts';
import { noFacts } from './facts.ts';
import { KnownSecrets } from './known-secrets.ts';
import type { ProbeTools } from './round.ts';
import { startProbeServer, type ProbeServer } from './server.ts';
import { createServiceCalls } from './service-calls.ts';
import { createSession, type ProbeSession } from './session.ts';
import { suggestSettings, type Suggestion } from './suggest-settings.ts';

/** The bot's address, at which the probe listens. */
export interface ProbePlace {
  publicUrl: string;
  host: string;
  port: number;
}

/** Durations that tests shorten. Milliseconds. */
export interface ProbePace {
  /** The lifetime of a code by the specification. Defaults to 10 s. */
  codeLifeMs: number;
  /** Time limit of the whole probe. Defaults to 10 minutes. */
  limitMs: number;
  /** How long the last page remains available. Defaults to 4 s. */
  lingerMs: number;
}

export interface SignInProbeOptions {
  signIn: Config['signIn'];
  clientSecret: string;
  /** Maps claims to profile fields, for OpenID Connect and CAS. Defaults to the usual claims. */
  profileMap?: ProfileMap;
  place: ProbePlace;
  /** A platform user id to compare with the profile. */
  person?: string;
  /** The code ages to test, in milliseconds. Defaults to 1, 5, 9 and 11 s. */
  codeAgesMs?: readonly number[];
  pace?: Partial<ProbePace>;
  output: CheckOutput;
  /** Stops the probe and reports what it has learned. */
  signal: AbortSignal;
}

export const DEFAULT_CODE_AGES_MS: readonly number[] = [1, 5, 9, 11].map((ageSec) => ageSec * SECOND_MS);
const CODE_LIFE_MS = 10 * SECOND_MS;
const LIMIT_MS = 10 * MINUTE_MS;
const LINGER_MS = 4 * SECOND_MS;
/** Interval of the terminal's hints while the browser is at the service. */
const HINT_EVERY_MS = MINUTE_MS;
/** Width of the name column. */
export const NAME_CHARS = 26;

/**
 * The set-up probe for administrators (SECURITY.md sign-in-probe): consecutive real sign-ins in the administrator's browser,
 * each with an experiment. Prints each finding as one line when it is known, then the matching settings. Lines contain no
 * secrets, and of the person at most a masked id.
 * @returns the exit code: 1 if any line is a fault or a test was skipped, else 0
 */
export async function runSignInProbe(options: SignInProbeOptions): Promise<0 | 1> {
  const { signIn, place, pace = {}, output, signal } = options;
  const stop = new AbortController();
  const tools = toolsOf(options, stop.signal);
  const { facts, secrets } = tools;
  const told: CheckResult[] = [];
  const look = lookOf(output, NAME_CHARS);
  const say = (text: string) => void output.write(`${secrets.hide(look.translate(text))}\n`);
  const tell = (lines: readonly CheckResult[]) => {
    told.push(...lines);
    for (const line of lines) say(checkLine(line, look));
  };

  let over: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (over = resolve));
  const { clientSecret, profileMap = {} } = options;
  const experiments = await experimentsFor(tools, { clientSecret, profileMap, redirectUri: redirectUriOf(place) });
  const session = createSession({ tools, rounds: experiments.rounds, tell, onOver: over });
  const server = await serve(options, session, experiments);
  if (!server) {
    const nextStep = 'Stop Parley and run this again: sign-ins return to its address';
    tell([{ name: 'Port', verdict: 'fault', detail: `${place.port} is in use`, nextStep }]);
    return 1;
  }
  const end = () => {
    stop.abort();
    session.end();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const limit = setTimeout(end, pace.limitMs ?? LIMIT_MS);
  const hints = setInterval(() => hint(session, () => say(`${' '.repeat(9)}${HINT}`)), HINT_EVERY_MS);
  say(`Open this in your browser within ten minutes, and sign in with your own account:\n\n  ${server.link}\n`);
  await ended;
  clearTimeout(limit);
  clearInterval(hints);

  const isWhole = !stop.signal.aborted;
  if (!isWhole) tell([unfinished(session)]);
  if (facts.state.echoed > 0 && facts.state.missing > 0) tell([FICKLE_STATE]);
  for (const line of linesOf(suggestSettings(facts, signIn))) say(line);
  if (isWhole) await waitFor(pace.lingerMs ?? LINGER_MS, signal);
  await server.close(SECOND_MS);
  return told.some(({ verdict }) => verdict === 'fault') ? 1 : 0;
}

function toolsOf(options: SignInProbeOptions, stop: AbortSignal): ProbeTools {
  const { signIn, clientSecret, person, codeAgesMs = DEFAULT_CODE_AGES_MS } = options;
  const secrets = new KnownSecrets();
  secrets.add(clientSecret);
  const { url: authUrl, clientId, clientAuth, scope } = signIn;
  const redirectUri = redirectUriOf(options.place);
  return {
    calls: createServiceCalls({ authUrl, clientId, clientSecret, clientAuth, scope, redirectUri }),
    facts: noFacts(),
    secrets,
    signIn,
    person,
    codeAgesMs,
    codeLifeMs: options.pace?.codeLifeMs ?? CODE_LIFE_MS,
    wait: (ms) => waitFor(ms, stop),
  };
}

/** The redirect address that is registered for the bot. */
function redirectUriOf({ publicUrl }: ProbePlace): string {
  return `${publicUrl}/oauth/callback`;
}

/** Returns undefined if the port is in use. */
async function serve(
  { place: { publicUrl, host, port }, signIn }: Pick<SignInProbeOptions, 'place' | 'signIn'>,
  session: ProbeSession,
  { logoutUrl, returns }: Experiments,
): Promise<ProbeServer | undefined> {
  const { serviceName } = signIn;
  try {
    return await startProbeServer({ session, logoutUrl, returns, publicUrl, host, port, serviceName });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

/** Waits until the time has passed or the signal aborts. Returns immediately for a negative time. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}

function hint({ phase }: ProbeSession, say: () => void): void {
  if (phase === 'away') say();
}

const HINT = 'The browser is still at the sign-in service. If it shows an error there, open the link above again.';

function unfinished({ step, stepCount }: ProbeSession): CheckResult {
  const detail = `ended at step ${step} of ${stepCount}; the remaining steps were not run`;
  return { name: 'Probe', verdict: 'fault', detail, nextStep: 'Run it again and allow ten minutes' };
}

const FICKLE_STATE: CheckResult = {
  name: 'State',
  verdict: 'fault',
  detail: 'was returned in some steps only',
  nextStep: 'Report this to the operator of the sign-in service; Parley refuses returns without state',
};

function linesOf(suggestions: readonly Suggestion[]): string[] {
  if (suggestions.length === 0) return [];
  const lines = suggestions.map(
    ({ setting, value, reason, isSet }) => `  ${setting}=${value}  # ${isSet ? 'already set; ' : ''}${reason}`,
  );
  return ['', 'Suggested settings:', ...lines];
}
