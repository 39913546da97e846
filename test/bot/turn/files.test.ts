import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { estimateTokens } from '../../../src/bot/turn/conversation/estimate-tokens.ts';
import { rankChunks } from '../../../src/bot/turn/files/rank-chunks.ts';
import { formatPlace, displayFileName, rangeIn } from '../../../src/bot/turn/files/file-words.ts';
import { fitAttachments } from '../../../src/bot/turn/files/fit-attachments.ts';
import { cutNote } from '../../../src/bot/turn/files/tell-files.ts';
import { neededFiles } from '../../../src/bot/turn/files/needed-files.ts';
import { preparePrompt } from '../../../src/bot/turn/answer/answer-prompt.ts';
import { promptTokens } from '../../../src/bot/turn/conversation/build-prompt.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { parseStoredFile, serializeStoredFile, type StoredFile } from '../../../src/bot/turn/files/kept-file.ts';

const pages = (count: number): StoredFile => ({
  name: 'a.pdf',
  parts: Array.from({ length: count }, (_, index) => ({ label: `page ${index + 1}`, text: 'word '.repeat(80) })),
  pictures: [],
  pageCount: count,
});
const room = { tokenFactor: 1, maxPictures: 2, language: 'en' } as const;

describe('the shown name of a file', () => {
  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\budget 2026.xlsx', 'budget 2026.xlsx'],
    ['<b>“x”</b>\u202egnp.exe', 'b gnp.exe'],
    ['预算（终稿）.xlsx', '预算（终稿）.xlsx'],
    ['\u200b\n', 'the file'],
    [undefined, 'the file'],
  ])('for %j is %j [named-plainly]', (sent, told) => expect(displayFileName(sent, 'en')).toBe(told));

  test('is limited, keeps its extension and contains nothing that could be markup, whatever was sent [named-plainly]', () => {
    expect(displayFileName(`${'x'.repeat(200)}.xlsx`, 'en')).toMatch(/^x+….xlsx$/);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (sent) => {
        const told = displayFileName(sent, 'zh');
        expect([...told].length).toBeLessThanOrEqual(81);
        expect(told).not.toMatch(/[<>"'`*~|[\]{}\\/@\n\p{Cc}]/u);
      }),
    );
  });
});

test('places in a file are named in both languages', () => {
  expect([
    formatPlace('page 3', 'zh'),
    rangeIn({ from: 'slide 3', to: 'slide 5' }, 'en'),
    rangeIn({ from: 'slide 3', to: 'slide 5' }, 'zh'),
    formatPlace('sheet 预算, rows 1–200', 'zh'),
    formatPlace('section Hours', 'en'),
  ]).toEqual(['第 3 页', 'slides 3–5', '第 3–5 张幻灯片', '工作表 预算, 第 1–200 行', 'section Hours']);
});

describe('an earlier file', () => {
  const handbook: StoredFile = {
    name: 'Staff_handbook_2026.pdf',
    parts: [{ label: 'page 1', text: 'Loans last four weeks. Swimming lessons are free. Expenses are paid monthly.' }],
    pictures: [],
  };
  const rules: StoredFile = {
    name: '借阅规则.docx',
    parts: [{ text: '图书可以借四周，逾期每天罚款一元。' }],
    pictures: [],
  };
  const scan: StoredFile = { name: 'scan.pdf', parts: [], pictures: [{ label: 'page 1', dataUrl: '', isScan: true }] };
  test.each([
    // By its words.
    [handbook, 'How long is a loan?', true],
    [handbook, 'Can I swim for free?', true],
    [rules, '圖書逾期怎麼辦？', true],
    // By its name.
    [handbook, 'Which holidays are in our handbook?', true],
    // By a word that refers to something before.
    [handbook, 'Does it mention costs?', true],
    [handbook, 'Summarise in three sentences', true],
    [rules, '帮我总结重点', true],
    [handbook, 'Why?', true],
    // Another language, or no text, tells nothing.
    [handbook, '出差费用怎么报销？', true],
    [rules, 'Who pays the fine?', true],
    [scan, 'Who painted the Mona Lisa?', true],
    [handbook, 'Who painted the Mona Lisa?', false],
    [handbook, 'Write a poem about autumn leaves', false],
    [rules, '蒙娜丽莎是谁画的？', false],
  ])('%# is sent with a question that may need it', async (file, question, isNeeded) => {
    expect(await neededFiles([file], question)).toEqual([isNeeded]);
  });
});

describe('files in a prompt', () => {
  test('fill the context of the model, while the conversation keeps its limit', async () => {
    const turn = { version: 1, atMs: 0, images: 0, assistantText: 'word '.repeat(2_000) } as const;
    const turns = Array.from({ length: 30 }, (_, index) => ({
      ...turn,
      turnId: asDeliveryId(`t${index}`),
      userText: 'q',
    }));
    const material = (files: StoredFile[]) => ({
      earlier: { turns, summary: undefined, isShared: false },
      current: { text: 'What is on the last page?', images: [] },
      ...{ earlierImages: new Map(), files, filesAtHand: new Map() },
    });
    const tokensFor = async (files: StoredFile[], maxTokens: number) => {
      const frame = { systemPrompt: 's', chatKind: 'private', nowMs: 0, timeZone: 'UTC', language: 'en' } as const;
      const limits = { tools: [], seesImages: false, maxTokens, conversationTokens: 24_000 };
      const build = await preparePrompt(material(files), { ...frame, ...limits });
      const { prompt, cutNotes } = build({ budgetTokens: maxTokens, tokenFactor: 1, isFresh: false });
      return { cutNotes, tokens: promptTokens(prompt.messages) };
    };
    const alone = await tokensFor([], 96_000);
    expect(alone.tokens).toBeLessThanOrEqual(24_000);
    // About 50,000 tokens, in a context of 128,000.
    const whole = await tokensFor([pages(600)], 96_000);
    expect(whole.cutNotes).toEqual([]);
    expect(whole.tokens).toBeGreaterThan(alone.tokens + 40_000);
    expect(whole.tokens).toBeLessThanOrEqual(96_000);
    // A model of unknown context.
    const cut = await tokensFor([pages(600)], 24_000);
    expect(cut.cutNotes).toHaveLength(1);
    expect(cut.tokens).toBeLessThanOrEqual(24_000);
  });

  test('share the token budget, each cut at a named place', () => {
    const { files, cut } = fitAttachments([pages(40), pages(40)], { ...room, roomTokens: 1_000 });
    const tokens = files.reduce((sum, { text }) => sum + estimateTokens(text), 0);
    expect(tokens).toBeLessThanOrEqual(1_000);
    expect(files.map(({ isCut }) => isCut)).toEqual([true, true]);
    expect(cut).toEqual([
      { name: 'a.pdf', upTo: 'page 5', pageCount: 40 },
      { name: 'a.pdf', upTo: 'page 5', pageCount: 40 },
    ]);
  });

  test('are whole and without a note when they fit', () => {
    const { files, cut } = fitAttachments([pages(3)], { ...room, roomTokens: 1_000 });
    expect(files[0]?.text).toMatch(/^\[page 1\]\nword[^]*\[page 3\]/);
    expect(cut).toEqual([]);
  });

  test('never exceed the token budget', () => {
    const part = fc.record({
      label: fc.option(fc.string(), { nil: undefined }),
      text: fc.string({ maxLength: 3_000 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(part, { maxLength: 8 }), { maxLength: 4 }), fc.nat(2_000), (all, roomTokens) => {
        const kept = all.map((parts): StoredFile => ({ parts, pictures: [] }));
        const { files } = fitAttachments(kept, { ...room, roomTokens });
        const tokens = files.reduce((sum, { text }) => sum + estimateTokens(text), 0);
        expect(tokens).toBeLessThanOrEqual(roomTokens + 4 * all.length);
      }),
    );
  });
});

describe('the parts of a long file that match the question', () => {
  const fitted = async (file: StoredFile, question: string, roomTokens = 600) => {
    const pieces = await rankChunks([file], question);
    const { files, cut } = fitAttachments([file], { ...room, roomTokens, pieces });
    return { text: files[0]?.text ?? '', isCut: files[0]?.isCut, note: cut[0] };
  };
  const dull = (count: number) => 'Nothing of interest is said here. '.repeat(count);

  test('are chosen together with the beginning, in the order of the document, and omissions are named', async () => {
    const { parts, ...rest } = pages(40);
    const file = {
      ...rest,
      parts: parts.map((part, index) => ({ ...part, text: `${index === 29 ? 'Otters eat fish. ' : ''}${dull(10)}` })),
    };
    const { text, note, isCut } = await fitted(file, 'What do otters eat?');
    expect(text).toMatch(/^\[page 1\]\n/);
    expect(text).toMatch(
      /\[Left out here: something from page 3 to page 28\.\]\n\n\[page 29\]\n[^[]*\[page 30\]\nOtters eat fish\./,
    );
    const told = [...text.matchAll(/^\[page (\d+)\]$/gm)].map(([, page]) => Number(page));
    expect(told).toEqual(told.toSorted((one, other) => one - other));
    expect(isCut).toBe(true);
    const used = 'so I used only the parts relevant to your question: pages 1–2, pages 29–31 of 40 pages.';
    expect(note && cutNote(note, 'en')).toContain(`“a.pdf” is long, ${used}`);
    expect(note && cutNote(note, 'zh')).toContain('共 40 页，我只使用了与问题相关的部分：第 1–2 页、第 29–31 页。');
  });

  test('are found in Chinese and in a text without places, with their position as a percentage', async () => {
    const said = `${'这里没有什么内容。'.repeat(300)}水獭每天下午四点喂食。${'这里也没有什么内容。'.repeat(300)}`;
    const { text, note } = await fitted({ parts: [{ text: said }], pictures: [] }, '水獭几点喂食？', 2_000);
    expect(text).toContain('水獭每天下午四点喂食');
    expect(text).toContain('[Something is left out here.]');
    expect(note?.places?.map(({ from }) => from)).toEqual([
      expect.stringMatching(/^0–\d+ %$/),
      expect.stringMatching(/^4\d–\d+ %$/),
    ]);
  });

  test('include the header of a table', async () => {
    const rows = Array.from(
      { length: 200 },
      (_, index) => `| ${index} | ${index === 150 ? 'Kingfisher' : 'Sparrow'} |`,
    );
    const table = ['| Number | Bird |', '| --- | --- |', ...rows].join('\n');
    const file = { parts: [{ label: 'sheet Birds, rows 1–200', text: table }], pictures: [] };
    const { text, note } = await fitted(file, 'Where is the kingfisher?', 500);
    expect(text).toMatch(
      /something of sheet Birds, rows 1–200\.\]\n\n\[sheet Birds, rows 1–200\]\n\| Number \| Bird \|\n\| --- \| --- \|\n/,
    );
    expect(text).toContain('| 150 | Kingfisher |');
    expect(note?.places).toEqual([{ from: 'sheet Birds, rows 1–200', to: undefined }]);
  });

  test.each([
    ['matches nothing in the file', 'Please summarise unicorns'],
    ['has only common words', 'What is it about?'],
  ])('are the beginning when the question %s', async (_, question) => {
    const { text, note } = await fitted(pages(40), question);
    expect(text).toMatch(/^\[page 1\][^]*\[page 2\]/);
    expect(note).toMatchObject({ upTo: expect.stringMatching(/^page \d$/), places: undefined });
  });

  test('can be found up to the very end of the file', async () => {
    const file = { parts: [...pages(30).parts, { label: 'page 31', text: 'The end is an otter.' }], pictures: [] };
    const { text, isCut, note } = await fitted(file, 'Where is the otter?');
    expect([text.endsWith('The end is an otter.'), isCut]).toEqual([true, false]);
    expect(note?.places?.at(-1)).toEqual({ from: 'page 30', to: 'page 31' });
  });

  test('never exceed the token budget, for any question and text', async () => {
    const words = fc.array(fc.constantFrom('otter', 'fish ', '水獭', '\n', '| a |', ' and ', 'x'.repeat(700)), {
      maxLength: 400,
    });
    const part = fc.record({
      label: fc.option(fc.string(), { nil: undefined }),
      text: words.map((all) => all.join('')),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), fc.nat(1_500), async (parts, roomTokens) => {
        const file: StoredFile = { parts, pictures: [] };
        const { text } = await fitted(file, 'otter fish 水獭', roomTokens);
        expect(estimateTokens(text)).toBeLessThanOrEqual(roomTokens + 4);
      }),
    );
  });
});

test('a stored file or fault is read back; missing and other values are read as undefined', () => {
  expect(parseStoredFile(serializeStoredFile(pages(1)))).toEqual(pages(1));
  expect(parseStoredFile(serializeStoredFile({ name: 'a', fault: 'broken' }))).toEqual({ name: 'a', fault: 'broken' });
  for (const other of ['data:image/png;base64,AA', 'fault:broken', '{}', 'null', '{"fault":"funny"}'])
    expect(parseStoredFile(other)).toBeUndefined();
});
