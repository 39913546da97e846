import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DocumentError } from '../../../../src/bot/knowledge/documents/document.ts';
import { parseDocument } from '../../../../src/bot/knowledge/documents/read-here.ts';
import { flip, flips } from '../../../support/flip-bytes.ts';
import { fuzzing, fuzzTestMs } from '../../../support/fuzz-time.ts';
import { tries } from '../../../support/tries.ts';
import { fits, makeCorpus, wordsOf, type CorpusFile } from './corpus.ts';
import { formPage } from './make-pdf.ts';
import { makeDocx, makePptx, makeXlsx, slideShape, slideText } from './make-zip.ts';

/** Files that take more than a second or too much memory for this test; corpus.test.ts reads them in the reader process. */
const HEAVY = [
  'many-paragraphs.docx',
  'tags.docx',
  'styles.docx',
  'million.xlsx',
  'shapes.pptx',
  'many-slides.pptx',
  'picture.pdf',
  'bomb.pdf',
  'quotes.csv',
  'lines.md',
];

const real = (name: string) => readFileSync(join(import.meta.dirname, 'files', name));
const readToWords = (bytes: Buffer, name: string) =>
  parseDocument(bytes, { name }).then(wordsOf, (error: unknown) =>
    error instanceof DocumentError ? error.code : Promise.reject(error as Error),
  );

describe('the document reader', () => {
  const files = makeCorpus().filter(({ name }) => !HEAVY.includes(name));

  test.each(files.map((file): [string, CorpusFile] => [file.name, file]))(
    'reads or rejects %s as expected [read-apart]',
    async (name, file) => {
      const words = await readToWords(file.bytes, name);
      expect(fits(words, file) ? '' : words.slice(0, 500)).toBe('');
    },
    120_000,
  );

  test('numbers the paragraphs of a regulation like Word', async () => {
    const level = (depth: number, format: string, text: string) =>
      `<w:lvl w:ilvl="${depth}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
    const numbering = `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7">${level(0, 'chineseCountingThousand', '第%1条')}${level(1, 'decimal', '%2.')}</w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>`;
    const relations = '<Relationships><Relationship Id="n" Type="x/numbering" Target="numbering.xml"/></Relationships>';
    const article = (depth: number, text: string) =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
    const body = [
      article(0, '总则'),
      article(1, 'a'),
      article(1, 'b'),
      ...Array.from({ length: 10 }, () => article(0, '细则')),
      article(1, 'c'),
    ];
    const words = await readToWords(
      makeDocx(body.join(''), [
        { name: 'word/numbering.xml', content: numbering },
        { name: 'word/_rels/document.xml.rels', content: relations },
      ]),
      'x.docx',
    );
    expect(words.split('\n')).toEqual([
      '第一条 总则',
      '1. a',
      '2. b',
      '第二条 细则',
      ...'三四五六七八九'.split('').map((n) => `第${n}条 细则`),
      '第十条 细则',
      '第十一条 细则',
      '1. c',
    ]);
  });

  test('names the hidden sheets of a workbook and does not read them', async () => {
    const { parts } = await parseDocument(makeXlsx({ rows: '<row><c><v>1</v></c><c><v>2</v></c></row>' }), {
      name: 'a.xlsx',
    });
    expect(parts.map(({ label, text }) => label ?? text)).toEqual(['(Hidden sheets, not read: Secret.)', 'sheet Data']);
  });

  test('labels the slides of a presentation and takes its title from the first one', async () => {
    const slides = ['Opening hours', '', 'Fines'].map((title) => ({
      shapes: slideShape(slideText(title), 'title') + slideShape(slideText('text'), 'body'),
    }));
    const { parts, title } = await parseDocument(makePptx(slides), { name: 'a.pptx' });
    expect(parts.map(({ label }) => label)).toEqual(['slide 1', 'slide 2', 'slide 3']);
    expect(title).toBe('Opening hours');
  });

  test('splits a long table into labelled parts, each with the header row', async () => {
    const lines = Array.from({ length: 450 }, (_, index) => `${index + 1},b`);
    const { parts } = await parseDocument(Buffer.from(['number,letter', ...lines].join('\n')), { name: 'a.csv' });
    expect(parts.map(({ label }) => label)).toEqual(['rows 1–200', 'rows 201–400', 'rows 401–450']);
    expect(parts.at(-1)?.text.startsWith('| number | letter |\n| --- | --- |\n| 401 | b |')).toBe(true);
  });

  test('reads a cell that only begins with a quotation mark, and the rows after it', async () => {
    const lines = ['size,use', '"17,screen', ...Array.from({ length: 300 }, (_, index) => `${index},""`), 'last,row'];
    const { parts } = await parseDocument(Buffer.from(lines.join('\n')), { name: 'a.csv' });
    expect(parts[0]?.text).toContain('| "17 | screen |\n| 0 |');
    expect(parts.at(-1)?.text).toContain('| last | row |');
  });
});

describe('a Chinese text', () => {
  /** Codes of the characters that an encoding writes as two bytes. */
  const codesOf = (encoding: string) => {
    const codes = new Map<string, Buffer>();
    const decoder = new TextDecoder(encoding);
    for (let code = 0xfefe; code >= 0x8140; code -= 1) {
      const bytes = Buffer.from([code >> 8, code & 0xff]);
      const letters = [...decoder.decode(bytes)];
      if (letters.length === 1 && letters[0] !== '\ufffd') codes.set(letters[0] ?? '', bytes);
    }
    return (text: string) => Buffer.concat([...text].map((letter) => codes.get(letter) ?? Buffer.from(letter)));
  };
  const simplified = [
    '图书馆周一至周五开放',
    '学生可以借二十本书',
    '请在期限以前还书',
    '第三条 本办法自发布之日起施行',
    'Wi-Fi 的名称是 eduroam',
  ];
  const traditional = [
    '圖書館週一至週五開放',
    '學生可以借二十本書',
    '請在期限以前還書',
    '第三條 本辦法自發布之日起施行',
    'Wi-Fi 的名稱是 eduroam',
  ];
  const encodings: [string, (text: string) => Buffer, string[]][] = [
    ['GB18030', codesOf('gb18030'), simplified],
    ['Big5', codesOf('big5'), traditional],
    ['UTF-8', Buffer.from, [...simplified, ...traditional]],
  ];

  test.each(encodings)('in %s is decoded without a declaration of its encoding', async (_, encode, sentences) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...sentences), { minLength: 1 }), async (lines) => {
        expect(await readToWords(encode(lines.join('\n')), 'a.txt')).toBe(lines.join('\n'));
      }),
      { numRuns: tries(200) },
    );
  });
});

describe('a randomly changed document', () => {
  const wordXml =
    '<w:p><w:pPr><w:pStyle w:val="H"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>';
  const sheetXml = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><f>A1</f><v>5</v></c></row>';
  const makers: [
    string,
    (changes: { at: number; byte: number; kind: 'change' | 'insert' | 'cut' | 'repeat' }[]) => Buffer,
  ][] = [
    ['x.docx', (changes) => changes.reduce(flip, real('rules.docx'))],
    ['y.docx', (changes) => makeDocx(changes.reduce(flip, Buffer.from(wordXml)))],
    ['x.xlsx', (changes) => changes.reduce(flip, real('book.xlsx'))],
    ['y.xlsx', (changes) => makeXlsx({ rows: changes.reduce(flip, Buffer.from(sheetXml)) })],
    ['x.pptx', (changes) => changes.reduce(flip, real('slides.pptx'))],
    [
      'y.pptx',
      (changes) => makePptx([{ shapes: changes.reduce(flip, Buffer.from(slideShape(slideText('a'), 'body'))) }]),
    ],
    ['x.pdf', (changes) => changes.reduce(flip, real('rules.pdf'))],
    [
      'y.pdf',
      (changes) =>
        changes.reduce(
          flip,
          formPage([[72, 720, 'Name:']], ['/Subtype /Widget /FT /Tx /T (a) /V (b) /Rect [150 715 280 735] /F 4']),
        ),
    ],
    ['x.html', (changes) => changes.reduce(flip, real('rules.html'))],
    ['x.csv', (changes) => changes.reduce(flip, Buffer.from('a,b\n"1,2",3\n'))],
  ];

  test.each(makers)(
    '%s is read or rejected with a DocumentError and causes no other error [read-apart]',
    async (name, make) => {
      await fc.assert(
        fc.asyncProperty(flips, async (changes) => {
          expect(typeof (await readToWords(make(changes), name))).toBe('string');
        }),
        fuzzing(100),
      );
    },
    fuzzTestMs,
  );
});
