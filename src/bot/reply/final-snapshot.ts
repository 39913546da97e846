import type { ReplySnapshot } from '../domain/reply.ts';
import type { Platform } from '../platforms/platform.ts';

/** The final snapshot of an answer. The status is shown apart from the text; if there is no text, the status is the text. */
export function finalSnapshot(
  platform: Platform,
  text: string,
  status?: string,
  mention?: string,
): Omit<ReplySnapshot, 'shown'> {
  const content = platform.renderReply({ text, status, mention, finished: true });
  return { content, note: text.trim() === '' ? undefined : status, finished: true };
}

/** Bytes reserved for the status in each message, for platforms that show it only as part of the text. */
export function roomFor(status: string | undefined): number {
  return status === undefined ? 0 : Buffer.byteLength(`\n\n${status}`);
}
