/** The line that ends a complete stream; nothing may follow. */
export const DONE_LINE = 'data: [DONE]\n\n';

/** One event of a stream as it goes over the wire: `data: ` and the JSON in one line. */
export function eventLine(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
