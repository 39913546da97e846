/** The rules look at the beginning only: no question of theirs is longer, and patterns stay quick. */
const MAX_QUESTION_CHARS = 4_000;
const QUOTE_BEGINS = /^\s*<quoted>\s*/i;
const QUOTE_ENDS = '</quoted>';
/** `<message from="…">` around what one of several speakers said, or any label that stands on lines of its own. */
const LABELLED = /^\s*<([a-z_-]{1,40})(?:[ \t][^<>\n]{0,200})?>\n([\s\S]*?)(?:\n?<\/\1>\s*)?$/i;
const SPEAKER = /^\s*\[?(?:member|speaker|user)-\d+\]?\s*[:：]\s*/i;

/**
 * What a person asks in a message: its own words, without the labels by which callers tell speakers apart. What is quoted
 * before them is somebody else's and only asked about; it counts where nothing else is said.
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
