import { z } from 'zod';

const targetShape = z.object({
  channel: z.string(),
  /** The question's own id; absent for a slash command, which is no message. */
  ts: z.string().optional(),
  /** The thread that the answer goes to. */
  threadTs: z.string().optional(),
  userId: z.string(),
  teamId: z.string(),
  isPrivate: z.boolean(),
  /**
   * Of the app's own command: where it is answered so that only its sender sees it, whether or not the bot is in that channel.
   * `isFirst`: before the channel itself is tried, since a word is nobody else's business.
   */
  response: z.object({ url: z.string(), isFirst: z.boolean() }).optional(),
});

/** Where an answer goes; it travels with the message, opaque to all but this folder. */
export type ReplyTarget = z.infer<typeof targetShape>;

export function formatTarget(target: ReplyTarget): string {
  return JSON.stringify(target);
}

export function readTarget(text: string): ReplyTarget {
  return targetShape.parse(JSON.parse(text));
}

/** A posted answer: a native stream that this app opened, or a message that is edited. */
export interface PostedMessage {
  channel: string;
  ts: string;
  /** When a native stream was opened (our clock, ms); absent for a message that is edited. */
  streamSinceMs?: number;
}

export function formatHandle({ channel, ts, streamSinceMs }: PostedMessage): string {
  return [channel, ts, ...(streamSinceMs === undefined ? [] : [String(streamSinceMs)])].join('/');
}

export function readHandle(handle: string): PostedMessage {
  const [channel = '', ts = '', since] = handle.split('/');
  return since === undefined ? { channel, ts } : { channel, ts, streamSinceMs: Number(since) };
}
