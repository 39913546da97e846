import { z } from 'zod';

const targetShape = z.object({
  channel: z.string(),
  /** The question's own id; absent for a slash command, which is not a message. */
  ts: z.string().optional(),
  /** The thread of the answer. */
  threadTs: z.string().optional(),
  userId: z.string(),
  teamId: z.string(),
  isPrivate: z.boolean(),
  /**
   * Set for a slash command: the address at which it can be answered so that only its sender sees the answer, whether or not
   * the bot is in the channel. `isFirst`: use it before the channel, because a command word concerns only its sender.
   */
  response: z.object({ url: z.string(), isFirst: z.boolean() }).optional(),
});

/** Destination of an answer. Stored with the message; opaque outside this folder. */
export type ReplyTarget = z.infer<typeof targetShape>;

export function formatTarget(target: ReplyTarget): string {
  return JSON.stringify(target);
}

export function readTarget(text: string): ReplyTarget {
  return targetShape.parse(JSON.parse(text));
}

/** A posted answer: a native stream opened by this app, or a message that is edited. */
export interface PostedMessage {
  channel: string;
  ts: string;
  /** When the native stream was opened, by our clock. Milliseconds; absent for a message that is edited. */
  streamSinceMs?: number;
}

export function formatHandle({ channel, ts, streamSinceMs }: PostedMessage): string {
  return [channel, ts, ...(streamSinceMs === undefined ? [] : [String(streamSinceMs)])].join('/');
}

export function readHandle(handle: string): PostedMessage {
  const [channel = '', ts = '', since] = handle.split('/');
  return since === undefined ? { channel, ts } : { channel, ts, streamSinceMs: Number(since) };
}
