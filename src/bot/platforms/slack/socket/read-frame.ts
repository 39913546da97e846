import { z } from 'zod';
import { parseJson } from '../../../../shared/parse-json.ts';

/** A frame from Slack's socket (PLATFORM_FACTS.md slack-socket); any other frame is `unknown`. */
export type Frame =
  | { kind: 'hello' }
  | { kind: 'disconnect'; reason: string }
  | { kind: 'envelope'; envelope: Envelope }
  | { kind: 'unknown' };

/** One delivery. It is acknowledged by its id on the connection over which it arrived. */
export interface Envelope {
  id: string;
  type: string;
  payload: unknown;
}

const MAX_REASON_CHARS = 64;
const frameShape = z.object({
  type: z.string().max(MAX_REASON_CHARS),
  reason: z.string().optional(),
  envelope_id: z.string().min(1).max(256).optional(),
  payload: z.unknown().optional(),
});

/** Reads one text frame. Never throws. */
export function readFrame(text: string): Frame {
  const read = frameShape.safeParse(parseJson(text));
  if (!read.success) return { kind: 'unknown' };
  const { type, reason = 'none', envelope_id: id, payload } = read.data;
  if (id !== undefined) return { kind: 'envelope', envelope: { id, type, payload } };
  if (type === 'hello') return { kind: 'hello' };
  return type === 'disconnect'
    ? { kind: 'disconnect', reason: reason.slice(0, MAX_REASON_CHARS) }
    : { kind: 'unknown' };
}
