import { asError, CodedError } from '../../shared/coded-error.ts';
import { holderOfPort } from '../../shared/http/port-holder.ts';
import { scrub } from '../../shared/log.ts';
import { EmbeddedRedisError } from '../../bot/app/local/embedded-redis.ts';
import { LocalError } from '../../bot/app/local/local-error.ts';
import type { Config } from '../../bot/config/config.ts';
import { usedPorts } from '../../bot/app/used-ports.ts';

/** Why a start came to nothing, as a person is told. */
export interface StartFailure {
  /** One sentence that says what to do. */
  sentence: string;
  /** Whether a setting is in the way: an end with 2, as after any other fault of the settings. */
  isOfSettings: boolean;
}

/** What a failed start is told as; the rest of the error is for the log at its finest level only. */
export function failureOfStart(thrown: unknown, config: Config): StartFailure {
  const error = asError(thrown);
  const ofSettings = (sentence: string) => ({ sentence, isOfSettings: true });
  if (error instanceof LocalError) return ofSettings(error.message);
  if (error instanceof EmbeddedRedisError) return ofSettings(`${error.message}. ${REDIS_ADVICE}`);
  const listening = sentenceOfListening(error, config);
  if (listening !== undefined) return ofSettings(listening);
  const code = 'code' in error && !(error instanceof CodedError) ? ` (${String(error.code)})` : '';
  return {
    sentence: `Parley cannot start: ${scrub(error.message)}${code}. LOG_LEVEL=debug shows where it happened`,
    isOfSettings: false,
  };
}

const REDIS_ADVICE =
  'See that redis-server is installed and that the redis folder in DATA_DIR can be written, or set REDIS_URL';

/** A port or an address that could not be listened on; undefined for any other error. */
export function sentenceOfListening(error: Error, config: Config): string | undefined {
  const { syscall, port, code } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall !== 'listen' || port === undefined) return undefined;
  const setting = usedPorts(config).find((used) => used.port === port)?.setting ?? 'PORT';
  if (code === 'EADDRINUSE')
    return `${setting} ${port} is taken by ${holderOfPort(port) ?? 'another program'}: stop it, or set ${setting} to another port`;
  if (code === 'EACCES')
    return `${setting} ${port} may not be listened on by this user: set ${setting} to a port above 1023`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST ${config.http.host} is no address of this machine: set HOST to one that is, or to 0.0.0.0 for all`;
  return undefined;
}
