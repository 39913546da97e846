import { asError, CodedError } from '../../shared/coded-error.ts';
import { holderOfPort } from '../../shared/http/port-holder.ts';
import { scrub } from '../../shared/log.ts';
import { EmbeddedRedisError } from '../../bot/app/local/embedded-redis.ts';
import { LocalError } from '../../bot/app/local/local-error.ts';
import type { Config } from '../../bot/config/config.ts';
import { usedPorts } from '../../bot/app/used-ports.ts';

/** Why a start failed, for display. */
export interface StartFailure {
  /** One sentence that says what to do. */
  sentence: string;
  /** Whether a setting is the cause. The exit code is then 2, as for other configuration errors. */
  isOfSettings: boolean;
}

/** Describes a failed start. Details of the error are logged at the finest level only. */
export function failureOfStart(thrown: unknown, config: Config): StartFailure {
  const error = asError(thrown);
  const ofSettings = (sentence: string) => ({ sentence, isOfSettings: true });
  if (error instanceof LocalError) return ofSettings(error.message);
  if (error instanceof EmbeddedRedisError) return ofSettings(`${error.message}. ${REDIS_ADVICE}`);
  const listening = sentenceOfListening(error, config);
  if (listening !== undefined) return ofSettings(listening);
  const code = 'code' in error && !(error instanceof CodedError) ? ` (${String(error.code)})` : '';
  return {
    sentence: `Parley cannot start: ${scrub(error.message)}${code}. Set LOG_LEVEL=debug for details`,
    isOfSettings: false,
  };
}

const REDIS_ADVICE =
  'Check that redis-server is installed and that the redis folder in DATA_DIR is writable, or set REDIS_URL';

/** Describes a failure to listen on a port or address; undefined for any other error. */
export function sentenceOfListening(error: Error, config: Config): string | undefined {
  const { syscall, port, code } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall !== 'listen' || port === undefined) return undefined;
  const setting = usedPorts(config).find((used) => used.port === port)?.setting ?? 'PORT';
  if (code === 'EADDRINUSE')
    return `${setting} ${port} is taken by ${holderOfPort(port) ?? 'another program'}: stop that program, or set ${setting} to another port`;
  if (code === 'EACCES')
    return `${setting} ${port} requires privileges that this user does not have: set ${setting} to a port above 1023`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST ${config.http.host} is not an address of this machine: set HOST to one of its addresses, or to 0.0.0.0 for all of them`;
  return undefined;
}
