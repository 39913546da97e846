import { readXml } from './read-xml.ts';
import type { Zip } from './zip.ts';

/** How a workbook shows a number. */
export type CellFormat = 'plain' | 'date' | 'percent';

const BUILT_IN_DATES: readonly [first: number, last: number][] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
];
const MOST_FORMATS = 70_000;
const DAY_MS = 86_400_000;
/** Day 0 of a workbook, which counts a 29 February 1900 that never was. */
const FIRST_DAY_MS = Date.UTC(1899, 11, 30);
/** Day 0 of a workbook that began on a Macintosh. */
const FIRST_DAY_1904_MS = Date.UTC(1904, 0, 1);
const LAST_DAY = 2_958_466;

/** The formats of a workbook, in the order in which its cells name them. */
export async function readCellFormats(zip: Zip, part: string | undefined): Promise<CellFormat[]> {
  const codes = new Map<number, string>();
  const formats: CellFormat[] = [];
  let isCellFormats = false;
  if (part !== undefined)
    await readXml(zip.pieces(part), {
      open(name, { numFmtId, formatCode }) {
        if (name === 'cellXfs') isCellFormats = true;
        else if (name === 'numFmt' && codes.size < MOST_FORMATS) codes.set(Number(numFmtId), formatCode ?? '');
        else if (name === 'xf' && isCellFormats && formats.length < MOST_FORMATS)
          formats.push(formatOf(Number(numFmtId ?? 0), codes));
      },
      close(name) {
        if (name === 'cellXfs') isCellFormats = false;
      },
    });
  return formats;
}

function formatOf(id: number, codes: ReadonlyMap<number, string>): CellFormat {
  if (id === 9 || id === 10) return 'percent';
  if (BUILT_IN_DATES.some(([first, last]) => id >= first && id <= last)) return 'date';
  // What stands in quotes, behind a stroke or in brackets is no sign; [h] counts hours, which is no date.
  const code = (codes.get(id) ?? '').slice(0, 200).replace(/"[^"]*"|\\.|\[[^[\]]*\]/g, '');
  if (code.includes('%')) return 'percent';
  return /[ymd]|h[^h]*s/i.test(code) && !/general|e\+/i.test(code) ? 'date' : 'plain';
}

/** A number as the workbook shows it, near enough: dates as 2026-01-05, shares with their sign. */
export function showNumber(value: string, format: CellFormat, is1904: boolean): string {
  const number = Number(value);
  if (value === '' || !Number.isFinite(number)) return value;
  if (format === 'percent') return `${tidy(number * 100)}%`;
  if (format === 'date' && number >= 0 && number < LAST_DAY) return showDate(number, is1904);
  return tidy(number);
}

/** Without the noise that counting in powers of two leaves. */
function tidy(number: number): string {
  return String(Number(number.toPrecision(15)));
}

function showDate(days: number, is1904: boolean): string {
  const seconds = Math.round(((days % 1) * DAY_MS) / 1000);
  const first = is1904 ? FIRST_DAY_1904_MS : FIRST_DAY_MS;
  const [date = '', time = ''] = new Date(first + Math.floor(days) * DAY_MS + seconds * 1000).toISOString().split('T');
  const clock = time.slice(0, time.slice(6, 8) === '00' ? 5 : 8);
  if (days < 1) return clock;
  return seconds === 0 ? date : `${date} ${clock}`;
}
