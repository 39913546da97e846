import type { ReplySnapshot } from '../domain/reply.ts';
import type { Platform } from '../platforms/platform.ts';

/** What is said about an answer stands apart from its text; of one without any text it is the text. */
export function finalSnapshot(
  platform: Platform,
  text: string,
  status?: string,
  mention?: string,
): Omit<ReplySnapshot, 'shown'> {
  const content = platform.renderReply({ text, status, mention, finished: true });
  return { content, note: text.trim() === '' ? undefined : status, finished: true };
}

/** Bytes that each message keeps free for the note, should the platform take it only as part of the text. */
export function roomFor(status: string | undefined): number {
  return status === undefined ? 0 : Buffer.byteLength(`\n\n${status}`);
}
