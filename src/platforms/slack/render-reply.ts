import { cutMarkdown } from '../cut-markdown.ts';
import type { ReplyView } from '../platform.ts';
import { neutralise } from './neutralise.ts';

/**
 * The most that one message holds. Slack takes 12,000 characters of `markdown_text` (platforms/slack.md section 3); bytes are
 * never fewer than characters, and the rest is room for what neutralising adds.
 */
export const MAX_REPLY_BYTES = 11_500;

/** One look of a reply as Slack shows it: standard markdown, the model's text alone. A finished one without text shows its status. */
export function renderReply({ text, status, finished }: ReplyView): string {
  const shown = neutralise(text);
  if (shown.trim() === '') return finished ? neutralise(status ?? '').trim() : '';
  for (const { prefix, body, suffix } of cutMarkdown(shown, MAX_REPLY_BYTES)) return prefix + body + suffix;
  return '';
}

/** Cuts a finished text into messages of at most `MAX_REPLY_BYTES`, already neutralised; blank pieces are left out. */
export function splitReply(text: string, reserveBytes = 0): string[] {
  const shown = neutralise(text);
  const maxBytes = MAX_REPLY_BYTES - reserveBytes;
  if (Buffer.byteLength(shown) <= maxBytes) return [shown];
  const pieces = [...cutMarkdown(shown, maxBytes)].map(({ prefix, body, suffix }) => prefix + body + suffix);
  return pieces.filter((piece) => piece.trim() !== '');
}
