import { CSV_MARK, csvRow } from '../../../shared/text/csv.ts';
import type { StoredFeedback } from './read-feedback.ts';

const COLUMNS = ['time', 'platform', 'answer', 'verdict', 'reasons', 'model', 'rule', 'rater', 'words'] as const;

/** Header line of the table. Starts with a byte order mark, so that spreadsheets recognise UTF-8. */
export const CSV_HEAD = CSV_MARK + csvRow(COLUMNS);

/** One line of the table (RFC 4180). Times are UTC; text that a spreadsheet would run as a formula is escaped. */
export function csvLine({ atMs, reasons, ...rest }: StoredFeedback): string {
  const row = { ...rest, time: new Date(atMs).toISOString(), reasons: reasons.join(' ') };
  return csvRow(COLUMNS.map((name) => row[name]));
}
