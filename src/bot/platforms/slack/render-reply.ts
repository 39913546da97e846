import { createMarkdownWriter } from '../markdown/markdown-writer.ts';
import type { ReplyView } from '../../domain/reply.ts';
import { createSplitter } from '../split-answer.ts';
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

export const { splitReply, splitAnswer } = createSplitter(writer, 'slack', MAX_REPLY_BYTES);

/** Renders a progress line, which may contain the model's words. Slack takes a short line of plain text. */
export function renderStatus(status: string): string {
  return writer.renderFinished(status, MAX_STATUS_BYTES).trim();
}

function withText(shown: string): string {
  return shown.trim() === '' ? '' : shown;
}
