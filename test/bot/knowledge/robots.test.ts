import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isUrlAllowed, parseRobots } from '../../../src/bot/knowledge/site/robots.ts';
import { measureProcessorTime } from '../../support/processor-time.ts';

const judge = async (robots: string, path: string) =>
  isUrlAllowed(await parseRobots(robots), new URL(`https://www.example.edu${path}`));

describe('robots.txt [site-asked-gently]', () => {
  test.each<[what: string, robots: string, path: string, may: boolean]>([
    ['nothing', '', '/a', true],
    ['no robots.txt at all', '<!doctype html><p>User-agent: *', '/a', true],
    ['everything refused', 'User-agent: *\nDisallow: /', '/a', false],
    ['an empty rule', 'User-agent: *\nDisallow:', '/a', true],
    ['the beginning of a path', 'user-agent: *\ndisallow: /a', '/ab/c', false],
    ['another path', 'User-agent: *\nDisallow: /a', '/b', true],
    ['small and capital letters', 'User-agent: *\nDisallow: /A', '/a', true],
    ['a longer rule that comes later', 'User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['the longest rule', 'User-agent: *\nAllow: /a/b\nDisallow: /a', '/a/b/c', true],
    ['the longest rule, otherwise', 'User-agent: *\nDisallow: /a/b\nAllow: /a', '/a/b/c', false],
    ['leave where two are as long', 'User-agent: *\nDisallow: /a\nAllow: /a', '/a', true],
    ['our own group', 'User-agent: *\nDisallow: /\nUser-agent: Parley\nDisallow: /b', '/a', true],
    ['our own group, with a version', 'User-agent: PARLEY/2.0 # ours\nDisallow: /a', '/a', false],
    [
      'two groups of ours',
      'User-agent: parley\nDisallow: /a\nUser-agent: x\nUser-agent: parley\nDisallow: /b',
      '/b',
      false,
    ],
    ['a group of several', 'User-agent: x\n\nUser-agent: parley\nDisallow: /a', '/a', false],
    ['a name that begins like ours', 'User-agent: parleybot\nDisallow: /', '/a', true],
    ['rules before any name', 'Disallow: /\nUser-agent: *\nDisallow: /b', '/a', true],
    ['a delay between name and rule', 'User-agent: *\nCrawl-delay: 5\nDisallow: /a', '/a', false],
    ['an asterisk', 'User-agent: *\nDisallow: /*/private', '/a/private/b', false],
    ['an asterisk that stands for nothing', 'User-agent: *\nDisallow: /a*b', '/ab', false],
    ['an end', 'User-agent: *\nDisallow: /*.pdf$', '/a.pdf', false],
    ['an end, and more', 'User-agent: *\nDisallow: /*.pdf$', '/a.pdf?x=1', true],
    ['an end behind a piece that comes twice', 'User-agent: *\nDisallow: /a*b$', '/abcb', false],
    ['a whole path', 'User-agent: *\nDisallow: /a$', '/ab', true],
    ['a question', 'User-agent: *\nDisallow: /*?', '/a?b', false],
    ['letters written as numbers', 'User-agent: *\nDisallow: /%7euser/%e6%96%87', '/~user/文', false],
    ['letters as they are', 'User-agent: *\nDisallow: /文', '/%e6%96%87%E4%BB%B6', false],
    ['a remark', 'User-agent: * # all\nDisallow: /a # here', '/a', false],
    ['a mark at its beginning', '\uFEFFUser-agent: *\r\nDisallow: /a\r\n', '/a', false],
  ])('%s', async (_, robots, path, may) => expect(await judge(robots, path)).toBe(may));

  test('applies the longest valid Crawl-delay', async () => {
    const delay = async (text: string) => (await parseRobots(`User-agent: *\n${text}`)).crawlDelaySec;
    expect(await delay('')).toBeUndefined();
    expect(await delay('Crawl-delay: 2\nCrawl-delay:')).toBe(2);
    expect(await delay('Crawl-delay: 0.5')).toBe(0.5);
    expect(await delay('Crawl-delay: soon')).toBeUndefined();
    expect(await delay('Crawl-delay: -1')).toBeUndefined();
  });

  test('matches a path exactly like the pattern of the rule', async () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 }).map((list) => list.join(''));
    const path = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }).map((list) => list.join(''));
    await fc.assert(
      fc.asyncProperty(letters, path, fc.boolean(), async (pattern, tail, isWhole) => {
        const meant = new RegExp(`^/${pattern.replaceAll('*', '.*')}${isWhole ? '$' : ''}`);
        const robots = `User-agent: *\nDisallow: /${pattern}${isWhole ? '$' : ''}`;
        expect(await judge(robots, `/${tail}`)).toBe(!meant.test(`/${tail}`));
      }),
    );
  });

  test('is read within 10 s even if hostile, without blocking the event loop for a second', async () => {
    const hostile = [
      `User-agent: *\nDisallow: /${'*a'.repeat(250_000)}`,
      `User-agent: *\n${'Disallow: /*a*a*a*a*a*a*b\n'.repeat(20_000)}`,
      'User-agent: *\n'.repeat(30_000),
      `${' '.repeat(500_000)}User-agent: *`,
      '\r'.repeat(500_000),
    ];
    for (const robots of hostile) {
      const spentMs = measureProcessorTime();
      let maxMs = 0;
      let lastMs = 0;
      const timer = setInterval(() => {
        maxMs = Math.max(maxMs, spentMs() - lastMs);
        lastMs = spentMs();
      }, 1);
      await isUrlAllowed(await parseRobots(robots), new URL(`https://www.example.edu/${'a'.repeat(2_000)}`));
      clearInterval(timer);
      expect(spentMs()).toBeLessThan(10_000);
      expect(maxMs).toBeLessThan(1_000);
    }
  });

  test('is read without an error for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.webPath(), async (text, path) => {
        await judge(`User-agent: *\nDisallow: ${text}\n${text}`, path);
      }),
    );
  });
});
