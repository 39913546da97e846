import { createMarkdownWriter } from '../markdown/markdown-writer.ts';
import type { ReplyView } from '../../domain/reply.ts';
import { isLongAnswer, splitInThread } from '../split-answer.ts';
import { SLACK_DIALECT } from './dialect.ts';

/**
 * Maximum size of one message. Slack allows 12,000 characters of `markdown_text` (PLATFORM_FACTS.md slack-web-api); a text
 * never has fewer bytes than characters.
 */
export const MAX_REPLY_BYTES = 11_500;
const MAX_STATUS_BYTES = 1_024;
const MEMBER_ID = /^[A-Z0-9]{2,32}$/;

const writer = createMarkdownWriter(SLACK_DIALECT);

/**
 * Renders one snapshot of a reply: standard markdown, the model's text alone. A finished reply without text shows its
 * status.
 */
export function renderReply({ text, status, mention, finished }: ReplyView): string {
  // Our own mention precedes the text, in which all others are neutralised.
  const call = mention !== undefined && MEMBER_ID.test(mention) ? `<@${mention}> ` : '';
  const maxBytes = MAX_REPLY_BYTES - call.length;
  const shown = withText(finished ? writer.renderFinished(text, maxBytes) : writer.renderGrowing(text, maxBytes));
  if (shown !== '') return call + shown;
  return finished ? writer.renderFinished(status ?? '', MAX_REPLY_BYTES).trim() : '';
}

/** Splits a finished text into messages of at most `MAX_REPLY_BYTES`, neutralised. Blank pieces are omitted. */
export function splitReply(text: string, reserveBytes = 0): string[] {
  return writer.split(text, MAX_REPLY_BYTES - reserveBytes);
}

/** Like `splitReply` for an answer of any length; long answers are split in a worker thread. */
export async function splitAnswer(text: string, reserveBytes = 0): Promise<string[]> {
  if (!isLongAnswer(text, MAX_REPLY_BYTES)) return splitReply(text, reserveBytes);
  return splitInThread(writer, { dialect: 'slack', text, maxBytes: MAX_REPLY_BYTES - reserveBytes });
}

/** Renders a progress line, which may contain the model's words. Slack takes a short line of plain text. */
export function renderStatus(status: string): string {
  return writer.renderFinished(status, MAX_STATUS_BYTES).trim();
}

function withText(shown: string): string {
  return shown.trim() === '' ? '' : shown;
}
