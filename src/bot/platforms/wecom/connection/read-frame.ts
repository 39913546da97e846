import { z } from 'zod';
import { parseJson } from '../../../../shared/parse-json.ts';

/** A frame from WeCom's connection (PLATFORM_FACTS.md wecom-connection); any other frame is `unknown`. */
export type Frame =
  | { kind: 'callback'; isEvent: boolean; reqId: string; body: unknown; chars: number }
  /** The answer to a frame of ours, identified only by its request id. */
  | { kind: 'answer'; reqId: string; errcode: number; body: unknown }
  | { kind: 'unknown' };

const CALLBACKS: ReadonlyMap<string, boolean> = new Map([
  ['aibot_msg_callback', false],
  ['aibot_event_callback', true],
]);
const frameShape = z.object({
  cmd: z.string().optional(),
  headers: z.object({ req_id: z.string().min(1).max(256) }),
  errcode: z.number().int().optional(),
  body: z.unknown().optional(),
});

/** Reads one text frame. Never throws. */
export function readFrame(text: string): Frame {
  const read = frameShape.safeParse(parseFrame(text));
  if (!read.success) return { kind: 'unknown' };
  const { cmd, headers, errcode, body } = read.data;
  const isEvent = CALLBACKS.get(cmd ?? '');
  if (isEvent !== undefined) return { kind: 'callback', isEvent, reqId: headers.req_id, body, chars: text.length };
  return errcode === undefined ? { kind: 'unknown' } : { kind: 'answer', reqId: headers.req_id, errcode, body };
}

/** Handles raw control characters in WeCom's frames, which JSON forbids within texts. */
function parseFrame(text: string): unknown {
  return parseJson(text) ?? parseJson(text.replace(/[\u0000-\u001f]/g, ' '));
}
