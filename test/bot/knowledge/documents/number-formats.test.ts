import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { showNumber, showText } from '../../../../src/bot/knowledge/documents/office/cell-formats.ts';
import { parseNumberFormat } from '../../../../src/bot/knowledge/documents/office/number-format.ts';
import { parseDocument } from '../../../../src/bot/knowledge/documents/read-here.ts';
import { makeXlsx } from './make-zip.ts';
import { tries } from '../../../support/tries.ts';

interface Case {
  /** The id that the workbook defines for the code, or a built-in id that it does not redefine. */
  id?: number;
  /** The format code; absent for a built-in format. */
  code?: string;
  value: number | string;
  shown: string;
}

const FIRST_CUSTOM_ID = 164;

/** One row per case. Append a row to add a format. */
const CASES: Case[] = [
  // Leading zeros.
  { code: '00000000', value: 12345, shown: '00012345' },
  { code: '000000', value: 1234567, shown: '1234567' },
  { code: '0000', value: 0, shown: '0000' },
  { code: '0000', value: -7, shown: '-0007' },
  { code: '00000', value: 12.5, shown: '00012.5' },
  { code: '000.000', value: 1.02, shown: '001.020' },
  { code: '0000000000000000', value: 123456789012345, shown: '0123456789012345' },
  { code: '0', value: '1.10101199001011E+17', shown: '110101199001011000' },
  { code: '[$-409]00000', value: 42, shown: '00042' },
  { code: '[$-804]00000;@', value: 42, shown: '00042' },
  { code: '[$-F400]0000', value: 9, shown: '0009' },
  { code: '[Red]0000', value: 9, shown: '0009' },
  { code: '[DBNum1][$-804]General', value: 12, shown: '12' },
  // Built-in ids that the workbook redefines.
  { id: 50, code: '000000', value: 31005, shown: '031005' },
  { id: 14, code: '0000', value: 123, shown: '0123' },
  { id: 30, code: '00000', value: 123, shown: '00123' },
  { id: 46, code: '00000', value: 123, shown: '00123' },
  { id: 58, code: 'General', value: 45000, shown: '45000' },
  { id: 9, code: '0000', value: 12, shown: '0012' },
  { id: 1, code: 'yyyy-mm-dd', value: 46082, shown: '2026-03-01' },
  { id: 3, code: '0.0%', value: 0.125, shown: '12.5%' },
  { id: 49, code: '0000', value: 12, shown: '0012' },
  // Built-in ids that the workbook does not redefine.
  { id: 0, value: 31005, shown: '31005' },
  { id: 4, value: 1234567.5, shown: '1234567.5' },
  { id: 10, value: 0.25, shown: '25%' },
  { id: 11, value: 1234567, shown: '1234567' },
  { id: 12, value: 0.5, shown: '0.5' },
  { id: 31, value: 46082, shown: '2026-03-01' },
  { id: 57, value: 46082, shown: '2026-03-01' },
  { id: 20, value: 0.5, shown: '12:00' },
  { id: 37, value: -5, shown: '(5)' },
  // Literal text.
  { code: '000-0000', value: 1234567, shown: '123-4567' },
  { code: '000-0000', value: 34567, shown: '003-4567' },
  { code: '"S"00000', value: 42, shown: 'S00042' },
  { code: '\\S00000', value: 42, shown: 'S00042' },
  { code: '"ymd "0000', value: 42, shown: 'ymd 0042' },
  { code: '\\d0000', value: 42, shown: 'd0042' },
  { code: '"20"00\\-00', value: 2601, shown: '2026-01' },
  { code: '0.00" km"', value: 3.25, shown: '3.25 km' },
  { code: '0"元"', value: 100, shown: '100元' },
  { code: '0天', value: 3, shown: '3天' },
  { code: '"No. "General', value: 7.5, shown: 'No. 7.5' },
  { code: '[$¥-804]#,##0.00', value: 1234.5, shown: '¥1234.5' },
  { code: '_-* #,##0.00\\ [$€-407]_-', value: 12, shown: '12 €' },
  { code: '"a;b "0', value: 1, shown: 'a;b 1' },
  // Sections.
  { code: '0;-0;;@', value: 5, shown: '5' },
  { code: '0;-0;;@', value: -5, shown: '-5' },
  { code: '0;-0;;@', value: 0, shown: '' },
  { code: '0;-0;;@', value: 'a', shown: 'a' },
  { code: '000;"loss "000;"none"', value: -5, shown: 'loss 005' },
  { code: '000;-000;"none"', value: 0, shown: 'none' },
  { code: '0_);(0)', value: -5, shown: '(5)' },
  { code: '0;[Red]0', value: -5, shown: '-5' },
  { code: '"+"0;"-"0', value: 0, shown: '+0' },
  { code: '"+"0;"-"0', value: -3, shown: '-3' },
  { code: '000;@', value: 0, shown: '000' },
  { code: '000;@', value: -1, shown: '-001' },
  { code: ';;;', value: 5, shown: '' },
  { code: ';;;', value: 'a', shown: '' },
  { code: '0;0;0;"Room "@', value: 'B2', shown: 'Room B2' },
  { code: '@" (old)"', value: 'B2', shown: 'B2 (old)' },
  { code: '@', value: 31005, shown: '31005' },
  { code: '[<=9999999]000-0000;(000) 000-0000', value: 5551234, shown: '555-1234' },
  { code: '[<=9999999]000-0000;(000) 000-0000', value: 2065551234, shown: '(206) 555-1234' },
  { code: '[>=1000]0.0,"k";0', value: 2500, shown: '2.5k' },
  { code: '[>=1000]0.0,"k";0', value: 250, shown: '250' },
  { code: '[=1]"yes";[=0]"no";General', value: 1, shown: 'yes' },
  { code: '[=1]"yes";[=0]"no";General', value: 0, shown: 'no' },
  { code: '[=1]"yes";[=0]"no";General', value: 2, shown: '2' },
  // Percent, thousands and powers.
  { code: '00%', value: 0.05, shown: '05%' },
  { code: '0.00\\%', value: 5, shown: '5%' },
  { code: '0"%"', value: 5, shown: '5%' },
  { code: '#,##0', value: 1234567, shown: '1234567' },
  { code: '#,##0.00;[Red]-#,##0.00', value: -1234.5, shown: '-1234.5' },
  { code: '0.0,,"M"', value: 1250000, shown: '1.25M' },
  { code: '0.00E+00', value: 0.000012, shown: '0.000012' },
  { code: '# ??/16', value: 2.5, shown: '2.5' },
  // Dates, times and durations.
  { code: 'yyyy"年"m"月"d"日"', value: 46082, shown: '2026-03-01' },
  { code: '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', value: 46082, shown: '2026-03-01' },
  { code: '[$-409]d\\-mmm\\-yy;@', value: 46082, shown: '2026-03-01' },
  { code: '[$-804]aaaa', value: 46082, shown: '2026-03-01' },
  { code: 'ggge"年"', value: 46082, shown: '2026-03-01' },
  { code: 'yyyy-mm-dd hh:mm', value: 46082.75, shown: '2026-03-01 18:00' },
  { code: 'h:mm AM/PM', value: 0.75, shown: '18:00' },
  { code: 'hh:mm', value: 46082.75, shown: '18:00' },
  { code: 'mm:ss.0', value: 0.5, shown: '12:00' },
  { code: '[h]:mm', value: 1.5, shown: '36:00' },
  { code: '[h]:mm:ss', value: 1.5, shown: '36:00:00' },
  { code: '[h]:mm', value: -0.5, shown: '-12:00' },
  { code: '[mm]:ss', value: 0.0625, shown: '1:30:00' },
  { id: 46, value: 1.5, shown: '36:00:00' },
];

const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const textCell = (text: string) => `<c t="inlineStr" s="1"><is><t>${text}</t></is></c>`;

function workbookOf({ id = FIRST_CUSTOM_ID, code, value }: Case): Buffer {
  const isText = typeof value === 'string' && !/^\d/.test(value);
  const cell = isText ? textCell(value) : `<c s="1"><v>${value}</v></c>`;
  const format = code === undefined ? '' : `<numFmt numFmtId="${id}" formatCode="${xml(code)}"/>`;
  return makeXlsx({
    rows: `<row><c><v>1</v></c><c><v>2</v></c><c><v>3</v></c></row><row><c><v>4</v></c>${cell}<c><v>5</v></c></row>`,
    styles: `<styleSheet><numFmts>${format}</numFmts><cellXfs><xf/><xf numFmtId="${id}"/></cellXfs></styleSheet>`,
  });
}

describe('a number format of a workbook', () => {
  test.each(CASES.map((one) => ({ ...one, name: one.code ?? `built-in ${one.id}`, one })))(
    '$name shows $value as "$shown"',
    async ({ one, shown }) => {
      const { parts } = await parseDocument(workbookOf(one), { name: 'formats.xlsx' });
      // The first part names the hidden sheet.
      const cells = parts.at(-1)?.text.split('\n').at(-1)?.split('|');
      expect(cells?.[2]?.trim()).toBe(shown);
    },
  );

  test('is parsed without an error for any format code', () => {
    const code = fc.array(fc.constantFrom(...'0#?.,;@%/\\"_*[]$-<=9eEymdhsGeneral (元')).map((signs) => signs.join(''));
    fc.assert(
      fc.property(code, fc.double({ noNaN: true, noDefaultInfinity: true }), (anyCode, value) => {
        const format = parseNumberFormat(anyCode);
        expect(typeof showNumber(String(value), format, false)).toBe('string');
        expect(typeof showText('a', format)).toBe('string');
      }),
      { numRuns: tries(2_000) },
    );
  });
});
