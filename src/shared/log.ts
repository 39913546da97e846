import { randomBytes } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

export interface LogOptions {
  level: string;
  /** `pretty` for people at a terminal, `json` for collectors. */
  format: 'pretty' | 'json';
  /** The roles of the process, for collectors that read several processes' lines; with it goes the name of this one. */
  role?: string;
  /** Where lines go; standard output unless told. Tests give a stream of their own and read it. */
  destination?: DestinationStream;
}

/** Shapes of secrets that must never be readable in a log, whatever field they arrived in (SECURITY.md scrubbed-logs). */
const SCRUBBED: readonly [pattern: RegExp, replacement: string][] = [
  [
    /\b(code|state|ticket|access_?token|refresh_?token|client_?secret|secret|corpsecret|password|access_?key|api_?key)=[^&\s"'\\]+/gi,
    '$1=[removed]',
  ],
  [/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [removed]'],
  // Also within JSON that is itself text in JSON, where quotes are escaped.
  [/("(?:access_?token|refresh_?token|client_?secret|api_?key|password)\\*"\s*:\s*\\*")[^"\\]*/gi, '$1[removed]'],
  // Codes of errors and states of parts are words; an authorization code or an OAuth state is not.
  [/("(?:code|state)\\*"\s*:\s*\\*")(?![a-z]+(?:[_-][a-z]+)*\\*"|[A-Z][A-Z_]*\\*")[^"\\]*/g, '$1[removed]'],
  [/\bsk-[\w-]{8,}/g, 'sk-[removed]'],
  [/\bxox([a-z])-[\w-]{6,}/g, 'xox$1-[removed]'],
  [/\/link\/[\w-]{16,}/g, '/link/[removed]'],
  [/data:[\w/+.-]+;base64,[\w+/=]+/g, 'data:[removed]'],
];

/** Removes secrets from one text. */
export function scrub(text: string): string {
  return SCRUBBED.reduce((scrubbed, [pattern, replacement]) => scrubbed.replace(pattern, replacement), text);
}

/**
 * The process's log. Errors are written as their name, code and scrubbed message and stack; the rest is what the
 * caller names. Nothing may be passed in that holds message text, tokens or keys.
 */
export function createLog({ level, format, role, destination }: LogOptions): Log {
  return pino(
    {
      level,
      base: role === undefined ? null : { role, instance: INSTANCE },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: describeError, err: describeError },
      hooks: { streamWrite: scrub },
      transport:
        format === 'pretty' && !destination
          ? { target: 'pino-pretty', options: { ignore: 'role,instance,trace', translateTime: 'SYS:HH:MM:ss' } }
          : undefined,
    },
    ...((destination ? [destination] : []) as []),
  );
}

/** A container's name where there is one; never the same for two processes, or for one before and after a restart. */
const INSTANCE = [process.env['HOSTNAME'] ?? '', randomBytes(3).toString('hex')].filter(Boolean).join('-');

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  const cause: unknown = error.cause === undefined ? undefined : describeError(error.cause);
  return { name, code, message: scrub(message), stack: stack === undefined ? undefined : scrub(stack), cause };
}
