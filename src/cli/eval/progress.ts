import { columnsUpTo, type Translate } from '../terminal/translate.ts';

/** A line that is replaced by the next one. */
export interface Progress {
  show(text: string): void;
  /** Removes the line, so that other output can follow. */
  clear(): void;
}

const ERASE_LINE = '\r\u001b[K';
const MAX_COLUMNS = 78;

/** Shows progress on a terminal. Other outputs, such as files, get nothing. */
export function createProgress(
  output: { write(text: string): unknown; isTTY?: boolean },
  translate: Translate,
): Progress {
  if (output.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  return {
    show: (text) => void output.write(`${ERASE_LINE}${columnsUpTo(translate(text.replace(/\s+/g, ' ')), MAX_COLUMNS)}`),
    clear: () => void output.write(ERASE_LINE),
  };
}
