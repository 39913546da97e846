import { randomBytes } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';
import { withSourcePositions } from './source-positions.ts';

export type Log = Logger;

export interface LogOptions {
  level: string;
  /** `pretty` for people at a terminal, `json` for log collectors. */
  format: 'pretty' | 'json';
  /** Roles of the process, for collectors that read several processes. The process name is logged with them. */
  role?: string;
  /** Output stream. Defaults to standard output. Tests pass their own. */
  destination?: DestinationStream;
}

/** Patterns of secrets that must never be readable in a log, in any field (SECURITY.md scrubbed-logs). */
const SCRUBBED: readonly [pattern: RegExp, replacement: string][] = [
  [
    /\b(code|state|ticket|access_?token|refresh_?token|client_?secret|secret|corpsecret|password|access_?key|api_?key)=[^&\s"'\\]+/gi,
    '$1=[removed]',
  ],
  [/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [removed]'],
  // Also matches JSON embedded in a JSON string, where quotes are escaped.
  [/("(?:access_?token|refresh_?token|client_?secret|api_?key|password)\\*"\s*:\s*\\*")[^"\\]*/gi, '$1[removed]'],
  // Error codes and component states are words; authorization codes and OAuth states are not.
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
 * Creates the process log. Errors are written as their name, code and scrubbed message and stack, along with the fields that
 * the caller names. Never pass message text, tokens or keys.
 */
export function createLog({ level, format, role, destination }: LogOptions): Log {
  return pino(
    {
      level,
      base: role === undefined ? null : { role, instance: INSTANCE },
      formatters: { level: (label) => ({ level: label }), log: inWholeMs },
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

/** Unique per process and per restart. */
export const INSTANCE_SUFFIX = randomBytes(3).toString('hex');
/** HOSTNAME (a container's name) with the suffix. */
export const INSTANCE = [process.env['HOSTNAME'] ?? '', INSTANCE_SUFFIX].filter(Boolean).join('-');

/** Rounds the fields that are milliseconds: fractions of them are measuring noise. */
function inWholeMs(fields: Record<string, unknown>): Record<string, unknown> {
  const rounded = Object.entries(fields).flatMap(([name, value]): [string, number][] =>
    typeof value === 'number' && name.endsWith('Ms') && !Number.isInteger(value) ? [[name, Math.round(value)]] : [],
  );
  return rounded.length === 0 ? fields : { ...fields, ...Object.fromEntries(rounded) };
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  const cause: unknown = error.cause === undefined ? undefined : describeError(error.cause);
  return {
    name,
    code,
    message: scrub(message),
    stack: stack === undefined ? undefined : scrub(withSourcePositions(stack)),
    cause,
  };
}
