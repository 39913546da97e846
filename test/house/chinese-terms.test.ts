import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cutFences, PAGES, readPage } from './pages.ts';

/** The chosen terms in CONTRIBUTING.md, and ambiguous alternatives for each. */
const CHOSEN: Readonly<Record<string, RegExp>> = {
  机器人: /助手/,
  办公应用: /聊天应用|即时通讯|消息应用|企业通讯/,
  登录服务: /统一登录/,
  成员账号: /用户标识/,
  学工号: /教工号|工号或学号|人员编号/,
  思考: /推理/,
  '@ 它': /(?<!<)@[它我你]|提及/,
};

test('Chinese pages and texts use one term for each concept', () => {
  const pages = PAGES.filter((page) => page.includes('zh-CN')).map((page) => ({
    place: page,
    text: cutFences(readPage(page)).prose.join('\n'),
  }));
  const texts = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ place: `src/${path}`, text: chineseIn(readFileSync(join('src', path), 'utf8')) }));
  expect(pages.length).toBeGreaterThan(4);
  expect(texts.filter(({ text }) => text !== '').length).toBeGreaterThan(20);
  const others = Object.entries(CHOSEN).flatMap(([chosen, other]) =>
    [...pages, ...texts].filter(({ text }) => other.test(text)).map(({ place }) => `${place}: say ${chosen}`),
  );
  expect(others).toEqual([]);
});

/** The Chinese part of texts, without patterns of what people may type. */
function chineseIn(source: string): string {
  return [...source.matchAll(/\bzh:\s*(['"`])(.*?)\1(?=[,\s}])/g)].map(([, , text = '']) => text).join('\n');
}
