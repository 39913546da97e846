/** Maximum characters that the rules examine. No supported question is longer, and patterns stay fast. */
const MAX_QUESTION_CHARS = 4_000;
const QUOTE_BEGINS = /^\s*<quoted>\s*/i;
const QUOTE_ENDS = '</quoted>';
/** `<message from="…">` around the text of one of several speakers, or any label on its own line. */
const LABELLED = /^\s*<([a-z_-]{1,40})(?:[ \t][^<>\n]{0,200})?>\n([\s\S]*?)(?:\n?<\/\1>\s*)?$/i;
const SPEAKER = /^\s*\[?(?:member|speaker|user)-\d+\]?\s*[:：]\s*/i;

/**
 * The question in a message: the sender's own words, without speaker labels. A quotation in front of them was written by
 * someone else; it is used only if there is no other text.
 */
export function askedText(message: string): string {
  const words = withoutQuote(message).slice(0, MAX_QUESTION_CHARS);
  return (LABELLED.exec(words)?.[2] ?? words).replace(SPEAKER, '').trim();
}

function withoutQuote(message: string): string {
  const begin = QUOTE_BEGINS.exec(message)?.[0].length;
  const end = begin === undefined ? -1 : message.indexOf(QUOTE_ENDS, begin);
  if (end < 0) return message;
  const rest = message.slice(end + QUOTE_ENDS.length).trim();
  return rest === '' ? message.slice(begin, end) : rest;
}
