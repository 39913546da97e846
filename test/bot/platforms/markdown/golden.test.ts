import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import type { ReplyView } from '../../../../src/bot/domain/reply.ts';
import { renderReply as renderForSlack } from '../../../../src/bot/platforms/slack/render-reply.ts';
import { renderReply as renderForWecom } from '../../../../src/bot/platforms/wecom/render-reply.ts';

const FOLDER = new URL('./golden/', import.meta.url);
const RENDERERS: Record<string, (view: ReplyView) => string> = { wecom: renderForWecom, slack: renderForSlack };
const CASE = /^## (.+)\n\n~{6} text\n([\s\S]*?)\n~{6}\n\n([\s\S]*?)(?=^## |(?![\s\S]))/gm;
const SHOWN = /^~{6} (wecom|slack|both)\n([\s\S]*?)\n~{6}$/gm;

interface Golden {
  name: string;
  text: string;
  shown: Record<string, string>;
}

/** Invisible characters are written as `{U+200B}` in the golden files. */
function unescaped(text: string): string {
  return text.replace(/\{U\+([0-9A-F]{2,6})\}/g, (_whole, code: string) => String.fromCodePoint(parseInt(code, 16)));
}

function readGolden(file: string): Golden[] {
  return [...readFileSync(new URL(file, FOLDER), 'utf8').matchAll(CASE)].map(([, name = '', text = '', rest = '']) => {
    const shown: Record<string, string> = {};
    for (const [, platform = '', snapshot = ''] of rest.matchAll(SHOWN)) {
      for (const each of platform === 'both' ? Object.keys(RENDERERS) : [platform]) shown[each] = snapshot;
    }
    if (rest.trim() === 'shown as it is') shown['wecom'] = shown['slack'] = unescaped(text);
    return { name, text: unescaped(text), shown };
  });
}

const files = readdirSync(FOLDER).map((file) => ({ file, cases: readGolden(file) }));

test('the golden files contain at least 40 cases, each with output for both platforms [harmless-marks] [honest-links]', () => {
  const cases = files.flatMap((each) => each.cases);
  expect(cases.length).toBeGreaterThanOrEqual(40);
  for (const { shown } of cases) expect(Object.keys(shown).sort()).toEqual(['slack', 'wecom']);
});

describe.each(files)('golden file $file', ({ file, cases }) => {
  test.each(cases)('renders: $name [harmless-marks] [honest-links]', ({ text, shown }) => {
    const finished = file !== 'growing.md';
    for (const [platform, render] of Object.entries(RENDERERS))
      expect(render({ text, finished })).toBe(shown[platform]);
  });
});
