import { definedOnly } from '../../../../src/shared/defined-only.ts';
import {
  runSignInProbe,
  type ProbePace,
  type SignInProbeOptions,
} from '../../../../src/cli/check/sign-in-probe/probe.ts';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { loadSound, SERVING } from '../../../bot/config/environments.ts';
import { ProbeBrowser, type ProbePerson } from './probe-browser.ts';
import { CLIENT, PERSON, startProbeStandIn, type ProbeStandIn, type Ways } from './probe-stand-in.ts';

export interface ProbeRun {
  text: string;
  exitCode: number;
  browser: ProbeBrowser;
  service: ProbeStandIn;
  /** The finding with this name, without its name, such as `ok works`; undefined if there is none. */
  line(name: string): string | undefined;
}

export interface RunOptions extends Partial<Omit<SignInProbeOptions, 'place' | 'pace'> & ProbePace> {
  port?: number;
  /** More settings; undefined removes one. */
  env?: Record<string, string | undefined>;
  person?: string;
  browserOf?: ProbePerson;
}

/** Ages before and after the end of a code that lives for a second; most tests try neither. */
export const BOTH_AGES_MS = [20, 1_400];
const QUICK_LIFE_MS = 1_000;

/** One complete probe of a test service with these deviations, with a scripted browser. */
export async function probeStandIn(ways: Ways = {}, options: RunOptions = {}): Promise<ProbeRun> {
  const service = await startProbeStandIn({ codeLifeMs: options.codeAgesMs ? QUICK_LIFE_MS : 60_000, ...ways });
  const browser = new ProbeBrowser(options.browserOf);
  try {
    const { ended, link, output } = await startProbe(service.url, options);
    const [exitCode] = await Promise.all([ended, link.then((found) => browser.walk(found))]);
    return { text: output(), exitCode, browser, service, line: (name) => lineIn(output(), name) };
  } finally {
    await service.close();
  }
}

/** A probe that waits for its browser. */
export async function startProbe(authUrl: string, { env, browserOf: _, ...given }: RunOptions = {}) {
  const { port = await freePort(), codeLifeMs = QUICK_LIFE_MS, limitMs, lingerMs = 50, ...options } = given;
  const { config } = loadSound(
    definedOnly({
      ...SERVING,
      SIGN_IN_URL: authUrl,
      SIGN_IN_CLIENT_ID: CLIENT.id,
      SIGN_IN_CLIENT_SECRET: CLIENT.secret,
      ...env,
    }),
  );
  let text = '';
  let found: (link: string) => void = () => undefined;
  const link = new Promise<string>((resolve) => (found = resolve));
  const ended = runSignInProbe({
    signIn: config.signIn,
    clientSecret: CLIENT.secret,
    place: { publicUrl: `http://127.0.0.1:${port}`, host: '127.0.0.1', port },
    pace: { codeLifeMs, limitMs, lingerMs },
    codeAgesMs: [],
    signal: new AbortController().signal,
    ...options,
    output: {
      write(piece: string) {
        text += piece;
        const shown = /http:\/\/\S+\/sign-in\/probe\/[\w-]{43}/.exec(text)?.[0];
        if (shown !== undefined) found(shown);
      },
    },
  });
  return { ended, link, output: () => text, port };
}

export function lineIn(text: string, name: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.slice(9).startsWith(`${name}  `));
  return line === undefined ? undefined : `${line.slice(0, 7).trim()} ${line.slice(9 + name.length).trim()}`;
}

/** Values that must never be printed: codes, tokens, verifiers, states and secrets of the run, and the person. */
export function leaksIn({ text, service }: ProbeRun): string[] {
  return [...service.secrets, PERSON.id, PERSON.name].filter((secret) => secret !== '' && text.includes(secret));
}
