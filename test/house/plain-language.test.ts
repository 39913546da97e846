import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findPhrases, mayContainPhrase, textsOfPage, textsOfProgram } from './find-phrases.ts';
import { PAGES, readPage } from './pages.ts';

/** Contains the phrases as examples. */
const EXAMPLES = /^test\/house\/(?:find-phrases|plain-language\.test)\.ts$/;

const filesIn = (folder: string, names: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => names.test(path) && !EXAMPLES.test(path))
    .sort();
const CONFIGURATION = [
  ...filesIn('defaults', /\.json$/),
  ...['config/.env.example', 'docker-compose.yml', 'docker-compose.production.yml', 'docs/openapi.yaml'],
];

test('programs, test titles, pages and configuration files are in plain English', () => {
  const programs = ['src', 'chaos', 'bench', 'scripts', 'test'].flatMap((folder) => filesIn(folder, /\.(?:tsx?|mjs)$/));
  expect(programs.length).toBeGreaterThan(1_500);
  const found = [
    ...programs.flatMap((path) => {
      const source = readFileSync(path, 'utf8');
      return mayContainPhrase(source) ? placed(path, textsOfProgram(path, source)) : [];
    }),
    ...PAGES.flatMap((path) => placed(path, textsOfPage(readPage(path)))),
    ...CONFIGURATION.flatMap((path) => placed(path, textsOfPage(readFileSync(path, 'utf8')))),
  ];
  expect(found).toEqual([]);
});

function placed(path: string, texts: Parameters<typeof findPhrases>[0]): string[] {
  return findPhrases(texts).map((sentence) => `${path}:${sentence}`);
}

describe('the check of phrases', () => {
  test.each([
    ['a line comment', '// So many times at most.', ['1: "So many"']],
    ['the second line of a block comment', '/**\n * The rate.\n * Nobody reads it.\n */', ['3: "Nobody"']],
    ['a comment before a closing bracket', 'f(() => {\n  a();\n  // Whoever comes.\n});', ['3: "Whoever"']],
    ['a comment behind a statement', 'a(); // 5 unless told', ['1: "unless told"']],
    ['two lines of a comment', '/**\n * Five, unless\n * told.\n */', ['2: "unless told"']],
    ['a string', "log('the sign-in begins anew');", ['1: "anew"']],
    ['the end of a template', 'log(`${name} is asked anew`);', ['1: "anew"']],
    ['a page outside of the repository', '// As in section 4.', ['1: "section 4"']],
    ['a page outside of the repository in a block', '/** What step 9 asks for. */', ['1: "step 9"']],
    ['the text of an element', 'const a = <p>Who it is that writes</p>;', ['1: "Who it is that"']],
  ])('finds a phrase in %s', (_, source, places) => {
    expect(mayContainPhrase(source)).toBe(true);
    expect(findPhrases(textsOfProgram('src/a.tsx', source))).toEqual(
      places.map((place) => expect.stringMatching(new RegExp(`^${place}: write `))),
    );
  });

  test.each([
    ['a section of a standard', '// RFC 6749 section 4.1.'],
    ['code in a comment', '// The field `anew`.'],
    ['a string that is a name', "const a = query['anew'];"],
    ['a regular expression with quotes', 'const a = /[\'"`] anew/;\n// Fine.'],
  ])('accepts %s', (_, source) => {
    expect(findPhrases(textsOfProgram('src/a.ts', source))).toEqual([]);
  });

  test('reads the titles of a test and not its other strings', () => {
    const source = "describe.each([1])('whoever asks', () => { test('asks anew', () => say('as if anew')); });";
    expect(findPhrases(textsOfProgram('test/a.test.ts', source))).toEqual([
      expect.stringContaining('"whoever"'),
      expect.stringContaining('"anew"'),
    ]);
  });

  test('finds a phrase on a line of a page', () => {
    expect(findPhrases(textsOfPage('# Title\n\nFor whoever runs it.\n'))).toEqual([
      expect.stringMatching(/^3: "whoever": write the actor/),
    ]);
  });

  test('finds a constant with a replaced prefix', () => {
    const texts = textsOfProgram('src/a.ts', 'const MOST_TRIES = 3;');
    expect(findPhrases(texts, ['MOST_'])).toEqual([expect.stringContaining('"MOST_TRIES"')]);
    expect(findPhrases(texts, [])).toEqual([]);
  });
});
