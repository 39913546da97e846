import { Registry } from 'prom-client';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { faultsOfProfileMap } from './config-files.ts';
import { checkSignIn, signInToCheck } from './check-sign-in.ts';
import type { Translate } from '../terminal/translate.ts';
import { checkLine, lookOf, type CheckOutput } from './run-checks.ts';
import { NAME_CHARS, runSignInProbe } from './sign-in-probe/probe.ts';
import { listen } from '../../shared/http/http-server.ts';
import { createLog } from '../../shared/log.ts';
import { listenForStop } from '../../shared/process/stop-signals.ts';
import { LocalError } from '../../bot/app/local/local-error.ts';
import { prepareLocalMode } from '../../bot/app/local/local-mode.ts';
import { holderOfPort } from '../../shared/http/port-holder.ts';
import { takeProbePorts } from './probe-ports.ts';
import type { SoundSettings } from '../../bot/app/take-free-ports.ts';
import { readProfileMap } from '../../bot/app/sign-in.ts';
import { startServicePart } from '../../bot/app/service.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import { isServiceAlone } from '../../bot/config/mode.ts';

interface SignInCommand {
  person?: string;
  codeAgesMs?: number[];
}

/**
 * `npm run check -- --sign-in`: the set-up probe. In local mode without `SIGN_IN_URL`, it starts the embedded service, so
 * that the probe can be tried without an institution's service.
 * @param read reloads the settings with these values taking precedence
 * @returns the exit code of the probe; 2 if the settings cannot be used
 */
export async function runSignInCommand(
  given: SoundSettings,
  read: Parameters<typeof takeProbePorts>[1],
  command: SignInCommand,
  translate: Translate,
): Promise<number> {
  const output: CheckOutput = { write: (text) => process.stdout.write(text), isTTY: process.stdout.isTTY, translate };
  const complain = (text: string) => void process.stderr.write(`${translate(text)}\n`);
  const { settings, told } = await takeProbePorts(given, read);
  const { config, secrets } = settings;
  for (const sentence of told) output.write(`${translate(sentence)}\n`);
  if (config.signIn.mode === 'off' || isServiceAlone(config.roles)) {
    complain('Sign-in is off: set SIGN_IN_URL, and SIGN_IN to required or optional');
    return 1;
  }
  // Checks that need no sign-in run first: if one fails, signing in would only show an error.
  if (config.signIn.type !== 'oauth2') {
    const faults = await faultsOfProfileMap(config);
    for (const sentence of faults) complain(sentence);
    if (faults.length > 0 || printChecks(await checkSignIn(signInToCheck(config, secrets)), output) > 0) return 1;
  }
  const interrupt = new AbortController();
  const endListening = listenForStop({ onStop: () => interrupt.abort(), onInsist: () => process.exit(1) });
  const endings: (() => Promise<void>)[] = [];
  try {
    const clientSecret = config.embedded.signIn
      ? await startEmbeddedService(config, secrets, endings)
      : (secrets.signInClientSecret ?? '');
    return await runSignInProbe({
      ...{ signIn: config.signIn, clientSecret, place: config.http },
      ...{ person: command.person, codeAgesMs: command.codeAgesMs },
      profileMap: readProfileMap(config.signIn),
      output,
      signal: interrupt.signal,
    });
  } catch (error) {
    if (!(error instanceof LocalError) && !isPortTaken(error)) throw error;
    const { servicePort } = config.local;
    const holder = holderOfPort(servicePort) ?? 'another program';
    const portTaken = `SERVICE_PORT ${servicePort} is taken by ${holder}: stop it, or set SERVICE_PORT to another port`;
    complain(error instanceof LocalError ? error.message : portTaken);
    return 1;
  } finally {
    for (const end of endings.toReversed()) await end();
    endListening();
  }
}

/** @returns the exit code: 1 if any line is a fault */
function printChecks(results: readonly CheckResult[], output: CheckOutput): 0 | 1 {
  for (const result of results) output.write(`${checkLine(result, lookOf(output, NAME_CHARS))}\n`);
  return results.some(({ verdict }) => verdict === 'fault') ? 1 : 0;
}

function isPortTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

/** @returns the bot's client secret for the embedded service */
async function startEmbeddedService(config: Config, given: Secrets, endings: (() => Promise<void>)[]): Promise<string> {
  const log = createLog({ level: 'silent', format: 'json' });
  // Tested first: a service that fails to start would leave its Redis connection open.
  await (await listen(() => undefined, config.local.servicePort, config.http.host)).close();
  const local = await prepareLocalMode(config, given, { log, onGone: (sentence) => log.error(sentence) });
  endings.push(() => local.stop());
  const parts = {
    config,
    secrets: local.secrets,
    clients: local.clients,
    registry: new Registry(),
    nowMs: Date.now,
    log,
  };
  const service = await startServicePart(parts);
  endings.push(() => service.close());
  return local.secrets.signInClientSecret;
}
