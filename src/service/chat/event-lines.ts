/** The line that ends a complete stream; nothing may follow it. */
export const DONE_LINE = 'data: [DONE]\n\n';

/** One event of a stream in wire format: `data: ` and the JSON in one line. */
export function eventLine(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
