import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import type { Config } from '../../../bot/config/config.ts';
import { checkLine, type CheckOutput } from '../run-checks.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { experimentsFor, type Experiments } from './experiments.ts';
import { noFacts } from './facts.ts';
import { KnownSecrets } from './known-secrets.ts';
import type { ProbeTools } from './round.ts';
import { startProbeServer, type ProbeServer } from './server.ts';
import { createServiceCalls } from './service-calls.ts';
import { createSession, type ProbeSession } from './session.ts';
import { suggestSettings, type Suggestion } from './suggest-settings.ts';

/** Where the probe stands: in the bot's place. */
export interface ProbePlace {
  publicUrl: string;
  host: string;
  port: number;
}

/** Lengths of time that a test shortens. Milliseconds. */
export interface ProbePace {
  /** How long the specification lets a code live; 10 s unless told. */
  codeLifeMs: number;
  /** How long the whole may take; 10 minutes unless told. */
  limitMs: number;
  /** How long the last page is still served at the end; 4 s unless told. */
  lingerMs: number;
}

export interface SignInProbeOptions {
  signIn: Config['signIn'];
  clientSecret: string;
  /** Which claims give which part of a profile, with OpenID Connect and CAS; the usual ones unless told. */
  profileMap?: ProfileMap;
  place: ProbePlace;
  /** A platform's user id to compare the profile with. */
  person?: string;
  /** How old the codes are that are tried, in milliseconds; 1, 5, 9 and 11 s unless told. */
  codeAgesMs?: readonly number[];
  pace?: Partial<ProbePace>;
  output: CheckOutput;
  /** Ends the probe with what was learnt. */
  signal: AbortSignal;
}

export const DEFAULT_CODE_AGES_MS: readonly number[] = [1, 5, 9, 11].map((ageSec) => ageSec * SECOND_MS);
const CODE_LIFE_MS = 10 * SECOND_MS;
const LIMIT_MS = 10 * MINUTE_MS;
const LINGER_MS = 4 * SECOND_MS;
/** How often the terminal says how to go on while the browser is away. */
const HINT_EVERY_MS = MINUTE_MS;
/** Of the lines' names, which stand below each other. */
export const NAME_CHARS = 26;

/**
 * The administrator's set-up probe (SECURITY.md sign-in-probe): real sign-ins in the administrator's browser, one after the other,
 * each with an experiment. Prints one line for each finding as it comes, then the settings that fit. No line holds a
 * secret, nor of the person more than a masked id.
 * @returns the exit code: 1 when a line is a fault or not everything was tried, else 0
 */
export async function runSignInProbe(options: SignInProbeOptions): Promise<0 | 1> {
  const { signIn, place, pace = {}, output, signal } = options;
  const stop = new AbortController();
  const tools = toolsOf(options, stop.signal);
  const { facts, secrets } = tools;
  const told: CheckResult[] = [];
  const say = (text: string) => void output.write(`${secrets.hide(text)}\n`);
  const tell = (lines: readonly CheckResult[]) => {
    told.push(...lines);
    for (const line of lines) say(checkLine(line, NAME_CHARS, output.isTTY === true));
  };

  let over: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (over = resolve));
  const { clientSecret, profileMap = {} } = options;
  const experiments = await experimentsFor(tools, { clientSecret, profileMap, redirectUri: redirectUriOf(place) });
  const session = createSession({ tools, rounds: experiments.rounds, tell, onOver: over });
  const server = await serve(options, session, experiments);
  if (!server) {
    const nextStep = 'Stop Parley, then run this again: sign-ins come back to its address';
    tell([{ name: 'Port', verdict: 'fault', detail: `${place.port} is taken`, nextStep }]);
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

/** The one that is registered for the bot. */
function redirectUriOf({ publicUrl }: ProbePlace): string {
  return `${publicUrl}/oauth/callback`;
}

/** Undefined when the port is taken. */
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

/** Waits, or until the signal ends it; a time that is past is no wait. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}

function hint({ phase }: ProbeSession, say: () => void): void {
  if (phase === 'away') say();
}

const HINT = 'The browser is still at the sign-in service. If it shows an error there, open the link above again.';

function unfinished({ step, stepCount }: ProbeSession): CheckResult {
  const detail = `ended at step ${step} of ${stepCount}; the rest was not tried`;
  return { name: 'Probe', verdict: 'fault', detail, nextStep: 'Run it again when you have ten minutes' };
}

const FICKLE_STATE: CheckResult = {
  name: 'State',
  verdict: 'fault',
  detail: 'came back in some steps only',
  nextStep: 'Tell who runs the sign-in service; Parley refuses a return without it',
};

function linesOf(suggestions: readonly Suggestion[]): string[] {
  if (suggestions.length === 0) return [];
  const lines = suggestions.map(
    ({ setting, value, reason, isSet }) => `  ${setting}=${value}  # ${isSet ? 'as it is set; ' : ''}${reason}`,
  );
  return ['', 'Settings that fit:', ...lines];
}
