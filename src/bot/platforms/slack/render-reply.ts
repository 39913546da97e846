import { createMarkdownWriter } from '../markdown/markdown-writer.ts';
import type { ReplyView } from '../../domain/reply.ts';
import { isLongAnswer, splitInThread } from '../split-answer.ts';
import { SLACK_DIALECT } from './dialect.ts';

/**
 * The most that one message holds. Slack takes 12,000 characters of `markdown_text` (PLATFORM_FACTS.md slack-web-api); bytes are
 * never fewer than characters.
 */
export const MAX_REPLY_BYTES = 11_500;
const MAX_STATUS_BYTES = 1_024;
const MEMBER_ID = /^[A-Z0-9]{2,32}$/;

const writer = createMarkdownWriter(SLACK_DIALECT);

/** One snapshot of a reply as Slack shows it: standard markdown, the model's text alone. A finished one without text shows its status. */
export function renderReply({ text, status, mention, finished }: ReplyView): string {
  // A mark of our own stands before the text, in which every other one is altered.
  const call = mention !== undefined && MEMBER_ID.test(mention) ? `<@${mention}> ` : '';
  const maxBytes = MAX_REPLY_BYTES - call.length;
  const shown = withText(finished ? writer.finished(text, maxBytes) : writer.growing(text, maxBytes));
  if (shown !== '') return call + shown;
  return finished ? writer.finished(status ?? '', MAX_REPLY_BYTES).trim() : '';
}

/** Cuts a finished text into messages of at most `MAX_REPLY_BYTES`, already neutralised; blank pieces are left out. */
export function splitReply(text: string, reserveBytes = 0): string[] {
  return writer.pieces(text, MAX_REPLY_BYTES - reserveBytes);
}

/** The same for an answer of any length; what is long is cut in a thread. */
export async function splitAnswer(text: string, reserveBytes = 0): Promise<string[]> {
  if (!isLongAnswer(text, MAX_REPLY_BYTES)) return splitReply(text, reserveBytes);
  return splitInThread(writer, { dialect: 'slack', text, maxBytes: MAX_REPLY_BYTES - reserveBytes });
}

/** A line about what is going on; it may hold the model's words. Slack takes at most a short line, as plain text. */
export function renderStatus(status: string): string {
  return writer.finished(status, MAX_STATUS_BYTES).trim();
}

function withText(shown: string): string {
  return shown.trim() === '' ? '' : shown;
}
