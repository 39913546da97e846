import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/clock.ts';
import { formatNumber, formatText, parseNumberFormat, tidyNumber, type NumberFormat } from './number-format.ts';
import { readXml } from './read-xml.ts';
import type { Zip } from './zip.ts';

/**
 * Built-in formats, which a workbook does not define. 27 to 36 and 50 to 58 are date formats of Chinese, Japanese and Korean
 * Excel.
 */
const BUILT_IN: readonly [first: number, last: number, code: string][] = [
  [9, 10, '0%'],
  [14, 17, 'yyyy-mm-dd'],
  [18, 21, 'h:mm:ss'],
  [22, 22, 'yyyy-mm-dd h:mm'],
  [27, 31, 'yyyy-mm-dd'],
  [32, 35, 'h:mm:ss'],
  [36, 36, 'yyyy-mm-dd'],
  [37, 40, '0_);(0)'],
  [45, 45, 'mm:ss'],
  [46, 46, '[h]:mm:ss'],
  [47, 47, 'mm:ss.0'],
  [50, 54, 'yyyy-mm-dd'],
  [55, 56, 'h:mm:ss'],
  [57, 58, 'yyyy-mm-dd'],
];
const GENERAL = 'General';
const MAX_CELL_FORMATS = 70_000;
/** Excel allows about 250. */
const MAX_CODES = 2_000;
/** Day 0 of the 1900 date system, which counts a nonexistent 29 February 1900. */
const FIRST_DAY_MS = Date.UTC(1899, 11, 30);
/** Day 0 of the 1904 date system (Excel for Mac). */
const FIRST_DAY_1904_MS = Date.UTC(1904, 0, 1);
const LAST_DAY = 2_958_466;

/** The cell formats of a workbook, in the order of the cells' style index. */
export async function readCellFormats(zip: Zip, part: string | undefined): Promise<NumberFormat[]> {
  const codes = new Map<number, string>();
  const parsed = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let isCellFormats = false;
  const formatOf = (id: number): NumberFormat => {
    const format = parsed.get(id) ?? parseNumberFormat(codes.get(id) ?? builtInCode(id));
    parsed.set(id, format);
    return format;
  };
  if (part !== undefined)
    await readXml(zip.pieces(part), {
      open(name, { numFmtId, formatCode }) {
        if (name === 'cellXfs') isCellFormats = true;
        else if (name === 'numFmt' && formatCode !== undefined && codes.size < MAX_CODES)
          codes.set(Number(numFmtId), formatCode);
        else if (name === 'xf' && isCellFormats && formats.length < MAX_CELL_FORMATS)
          formats.push(formatOf(Number(numFmtId ?? 0)));
      },
      close(name) {
        if (name === 'cellXfs') isCellFormats = false;
      },
    });
  return formats;
}

function builtInCode(id: number): string {
  return BUILT_IN.find(([first, last]) => id >= first && id <= last)?.[2] ?? GENERAL;
}

/** Formats a number as the workbook shows it, but with all digits. Dates are written as 2026-01-05, times as 18:00. */
export function showNumber(value: string, format: NumberFormat | undefined, is1904: boolean): string {
  const number = Number(value);
  if (value === '' || !Number.isFinite(number)) return value;
  if (!format) return tidyNumber(number);
  const shown = formatNumber(number, format);
  if (shown.kind === 'text') return shown.text;
  if (shown.kind === 'duration') return (number < 0 ? '-' : '') + showDuration(Math.abs(number), shown.hasSeconds);
  if (number < 0 || number >= LAST_DAY) return tidyNumber(number);
  return showDate(number, shown.kind, is1904);
}

/** Formats a text as the workbook shows it. */
export function showText(text: string, format: NumberFormat | undefined): string {
  return format ? formatText(text, format) : text;
}

function showDate(days: number, kind: 'date' | 'time', is1904: boolean): string {
  const timeMs = Math.round(((days % 1) * DAY_MS) / SECOND_MS) * SECOND_MS;
  const first = is1904 ? FIRST_DAY_1904_MS : FIRST_DAY_MS;
  const [date = '', time = ''] = new Date(first + Math.floor(days) * DAY_MS + timeMs).toISOString().split('T');
  const clock = time.slice(0, time.slice(6, 8) === '00' ? 5 : 8);
  if (days < 1 || kind === 'time') return clock;
  return timeMs === 0 ? date : `${date} ${clock}`;
}

/** Hours, minutes and optionally seconds. The hours may exceed 24: 36:00:00. */
function showDuration(days: number, hasSeconds: boolean): string {
  const ms = Math.round((days * DAY_MS) / SECOND_MS) * SECOND_MS;
  const two = (count: number) => `:${String(Math.floor(count)).padStart(2, '0')}`;
  const seconds = hasSeconds || ms % MINUTE_MS > 0 ? two((ms % MINUTE_MS) / SECOND_MS) : '';
  return `${Math.floor(ms / HOUR_MS)}${two((ms % HOUR_MS) / MINUTE_MS)}${seconds}`;
}
