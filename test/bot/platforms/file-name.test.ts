import { expect, test } from '@jest/globals';
import { parseDispositionFileName } from '../../../src/bot/platforms/file-name.ts';

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

test.each([
  ['attachment; filename="a.pdf"', 'a.pdf'],
  ['attachment; filename=a.pdf; size=3', 'a.pdf'],
  ['attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
  ['attachment; filename="x"; filename*=UTF-8\'\'%E9%A2%84%E7%AE%97.xlsx', '预算.xlsx'],
  ['attachment; filename="%E9%A2%84%E7%AE%97.xlsx"', '预算.xlsx'],
  [`attachment; filename="${bytesOf('预算.xlsx')}"`, '预算.xlsx'],
  ['attachment; filename="100%.pdf"', '100%.pdf'],
  ['attachment', undefined],
  [undefined, undefined],
])('reads from the header %j the file name %j', (disposition, name) =>
  expect(parseDispositionFileName(disposition)).toBe(name),
);
