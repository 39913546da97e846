import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mayRead, readReaders, type Reader, type Readers } from '../../../src/bot/knowledge/readers.ts';
import { splitFrontMatter } from '../../../src/bot/knowledge/front-matter.ts';
import { tries } from '../../support/tries.ts';

const staff = { identityCode: 'JG', department: '3100' };
const student = { identityCode: 'XS', department: '4200' };
const privately = { kind: 'private', id: 'u' } as const;
const inGroup = { kind: 'group', id: 'g' } as const;

describe('readers of a source [knowledge-rights]', () => {
  test.each<[readers: Readers, reader: Reader, may: boolean]>([
    ['public', { person: undefined, place: privately }, true],
    ['public', { person: undefined, place: inGroup }, true],
    ['public', { person: staff, place: inGroup }, true],
    ['nobody', { person: staff, place: privately }, false],
    [{ identity: ['JG'] }, { person: staff, place: privately }, true],
    [{ identity: ['JG'] }, { person: student, place: privately }, false],
    [{ identity: ['JG'] }, { person: staff, place: inGroup }, false],
    [{ identity: ['JG'] }, { person: undefined, place: privately }, false],
    [{ departments: ['31*'] }, { person: staff, place: privately }, true],
    [{ departments: ['31*'] }, { person: student, place: privately }, false],
    [{ identity: ['JG'], departments: ['42*'] }, { person: staff, place: privately }, false],
    // Every person who is signed in.
    [{}, { person: student, place: privately }, true],
    [{}, { person: undefined, place: privately }, false],
    [{}, { person: student, place: inGroup }, false],
    [{ signedIn: true }, { person: student, place: privately }, true],
    [{ signedIn: true }, { person: undefined, place: privately }, false],
  ])('%j for %j: %s', (readers, reader, may) => expect(mayRead(readers, reader)).toBe(may));

  test.each([undefined, null, '', 'everybody', 'Public', 5, [], ['public'], { identity: [] }, { identity: 'JG' }])(
    '%j admits no person',
    (written) => expect(readReaders(written)).toBe('nobody'),
  );
  test.each([
    { identity: ['XX'] },
    { departments: ['*'] },
    { signedIn: false },
    { role: ['JG'] },
    { identity: ['JG'], x: 1 },
  ])('%j is invalid and admits no person', (written) => expect(readReaders(written)).toBe('nobody'));
});

describe('front matter', () => {
  const matterOf = (document: string) => splitFrontMatter(document).matter;

  test.each<[document: string, title: string | undefined, readers: Readers | undefined]>([
    ['---\ntitle: Leave\nreaders: public\n---\nText', 'Leave', 'public'],
    [
      '---\nreaders: { identity: [JG], departments: ["31*"] }\n---\nText',
      undefined,
      { identity: ['JG'], departments: ['31*'] },
    ],
    ['---\nreaders:\n  identity:\n    - JG\n    - XS\n---\nText', undefined, { identity: ['JG', 'XS'] }],
    ['---\r\nreaders:\r\n  identity: [JG]\r\n---\r\nText', undefined, { identity: ['JG'] }],
    ['\uFEFF---\nreaders: public\n---\nText', undefined, 'public'],
    ['---\ntitle: "请假: 规定"\n---\nText', '请假: 规定', undefined],
    ['---\nreaders: public\n...\nText', undefined, 'public'],
    ['---\n---\nText', undefined, undefined],
    ['---\ntitle: [a]\n---\nText', undefined, undefined],
    ['Text\n---\nreaders: public\n---\n', undefined, undefined],
    ['--- \n\n## Heading\n\nSome words, and a readers’ club.\n', undefined, undefined],
    ['{ a sentence in braces }\nText', undefined, undefined],
    ['--- \nHello\n---\nText', undefined, undefined],
  ])('%j', (document, title, readers) => expect(matterOf(document)).toEqual({ title, readers, date: undefined }));

  test('is removed from the text, while a horizontal rule stays', () => {
    expect(splitFrontMatter('---\ntitle: T\n---\n\n# Head\n').text).toBe('\n# Head\n');
    expect(splitFrontMatter('---\nHello\n---\nText').text).toBe('---\nHello\n---\nText');
  });

  test('sets the date if it is valid', () => {
    expect(matterOf('---\ndate: 2026-03-01\n---\n').date).toBe('2026-03-01');
    expect(matterOf('---\ndate: March\n---\n').date).toBeUndefined();
  });

  test.each([
    '\n---\nreaders: public\n---\nText',
    '\u200b \n---\nreaders: { identity: [JG] }\n---\nText',
    '+++\nreaders = { identity = ["JG"] }\n+++\nText',
    ';;;\n"readers": { "identity": ["JG"] }\n;;;\nText',
    '{\n"title": "T",\n"readers": { "identity": ["JG"] }\n}\nText',
    '－－－\nreaders: { identity: [JG] }\n－－－\nText',
    '———\nreaders: { identity: [JG] }\n———\nText',
    '--- # staff\nreaders: { identity: [JG] }\n---\nText',
    '---\ntitle: T\nNo end',
    '---\ntitle: T\ntitle: U\n---\nText',
    '---\nｒｅａｄｅｒｓ: { identity: [JG] }\n---\nText',
    '---\nrea\u200bders: { identity: [JG] }\n---\nText',
    '---\nre\u00adaders: { identity: [JG] }\n---\nText',
    '---\nrеаders: { identity: [JG] }\n---\nText',
    '---\nreaders_: { identity: [JG] }\n---\nText',
    '---\nREADERS: { identity: [JG] }\n---\nText',
    '---\nreaders： { identity: [JG] }\n---\nText',
    '---\nmeta:\n  readers: { identity: [JG] }\n---\nText',
    '---\ntitle: T\n---\n---\nreaders: { identity: [JG] }\n---\nText',
    `---\ntitle: T\n${'# filling\n'.repeat(1_000)}readers: { identity: [JG] }\n---\nText`,
    `---\ntitle: T\n${'# filling\n'.repeat(1_000)}readers: { identity: [JG] }\nNo end`,
    '---\rreaders: everybody\r---\rText',
    '---\u2028readers: everybody\u2028---\u2028Text',
    '---\nreaders: everybody\n---\nText',
    '---\nreaders:\n---\nText',
    '---\nReaders: public\n---\nText',
    '---\nreader: public\n---\nText',
    '---\n"readers ": public\n---\nText',
    '---\nreaders: public\nreaders: { identity: [JG] }\n---\nText',
    '---\nreaders: { identity: [JG]\n---\nText',
    '---\nreaders: public\nNo end',
    '---\ntitle: a: b: c\nreaders: { identity: [JG] }\n---\nText',
    '---\nx: &x public\nreaders: *x\n---\nText',
    '---\nreaders: !!binary cHVibGlj\n---\nText',
    '---\nreaders:\n  __proto__: { identity: [JG] }\n---\nText',
    '---\n? [readers]\n: public\n---\nText',
    `---\nreaders: public\n${'#'.repeat(9_000)}\n---\nText`,
  ])('that is invalid closes the document: %j [knowledge-rights]', (document) =>
    expect(splitFrontMatter(document)).toMatchObject({ matter: { readers: 'nobody' }, isOdd: true }),
  );

  test('yields readers that the schema allows, or none, for any text [knowledge-rights]', () => {
    const line = fc.constantFrom(
      'readers: public',
      'readers:',
      '  identity: [JG]',
      '  - JG',
      'title: x',
      '---',
      '...',
      '{',
      ']',
      '# x',
      '',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string({ maxLength: 12 })), { maxLength: 12 }), (lines) => {
        const { readers } = matterOf(`---\n${lines.join('\n')}\n---\nText`);
        if (readers === undefined || typeof readers === 'string') return;
        expect(readReaders(readers)).toEqual(readers);
      }),
      { numRuns: tries(500) },
    );
  });

  test('that mentions readers never opens a document unless it says public', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (said) => {
        const { readers } = matterOf(`---\nreaders: ${said}\n---\nText`);
        if (readers === 'public') expect(said).toMatch(/public/);
        else expect(readers).toBeDefined();
      }),
      { numRuns: tries(500) },
    );
  });
});
