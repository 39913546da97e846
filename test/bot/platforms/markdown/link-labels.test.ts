import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { hostBeside } from '../../../../src/simulator/web/links.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';

const EVIL = 'https://evil.example/x';
const MAX_BYTES = 20_000;

describe.each([WECOM_DIALECT, SLACK_DIALECT])('link labels on $name', (dialect) => {
  const write = (text: string) => createMarkdownWriter(dialect).renderFinished(text, MAX_BYTES);

  test.each([
    ['an ideographic full stop', 'apple。com'],
    ['its half-width form', 'apple｡com'],
    ['a full-width dot', 'apple．com'],
    ['a one-dot leader', 'apple․com'],
    ['a middle dot', 'apple·com'],
    ['a bullet', 'apple•com'],
    ['letters of another script', 'аррӏе.com'],
    ['a host entirely in another script', '苹果。中国'],
    ['a script with combining marks', 'उदाहरण.भारत'],
    ['full-width letters', 'ａｐｐｌｅ．ｃｏｍ'],
    ['a country-code domain that looks like a file ending', 'google.md'],
    ['an IP address', '93.184.216.34'],
    ['an IP address with full-width digits', '９３.184.216.34'],
    ['an IPv6 address', '2606:2800:220:1::1'],
    ['an address with a single-label host', 'https://intranet/login'],
    ['an address with a numeric host', 'http://2130706433/'],
    ['an address with a user name before the host', 'https://apple.com@evil.example/x'],
    ['words around it', 'go to apple。com now'],
  ])('are followed by the real address when they look like another one (%s)', (_, label) => {
    const written = write(`[${label}](${EVIL})`);
    expect(written).toContain(`([${EVIL}](${EVIL}))`);
    expect(write(written)).toBe(written);
  });

  test.each([
    'the manual',
    '使用手册。请先看这里',
    '约翰·史密斯的主页',
    'evil.example',
    'https://evil.example/other',
    'at 10:30:15',
    'std::vector',
    'app.ts',
    'v1.2.3',
  ])('are unchanged when they do not look like another address (%s)', (label) => {
    expect(write(`[${label}](${EVIL})`)).toBe(`[${label}](${EVIL})`);
  });

  test('may be a file name only when the link leads to a file of that name', () => {
    const link = '[README.md](https://git.example/a/README.md)';
    expect(write(link)).toBe(link);
    expect(write(`[README.md](${EVIL})`)).toContain(`([${EVIL}](${EVIL}))`);
  });

  test.each([
    ['[shop](https://bank.example@evil.example/x)', 'shop (https://bank.example＠evil.example/x)'],
    ['[shop](https://bank.example:443@evil.example/x)', 'shop (https://bank.example:443＠evil.example/x)'],
    ['see https://bank.example@evil.example/x', 'see https://bank.example＠evil.example/x'],
    ['<https://bank.example@evil.example/x>', 'https://bank.example＠evil.example/x'],
  ])('do not let a user name in the address hide its host: %s', (markdown, shown) => {
    expect(write(markdown)).toBe(shown);
    expect(write(shown)).toBe(shown);
  });

  test('leave the @ of code, mail addresses and paths unchanged', () => {
    for (const text of ['`git clone https://me@git.example/a`', 'me@mail.example', 'https://social.example/@me'])
      expect(write(text)).toBe(text);
  });
});

describe('the host shown beside a link in the messenger', () => {
  test.each([
    ['https://le.com/', 'google.com'],
    ['https://evil.example/', 'evil.example.bank.example'],
    ['https://evil.example/', 'see bank.example, not evil.example'],
    ['https://evil.example/', 'evil。example'],
    ['https://xn--80ak6aa92e.com/', 'аррӏе.com'],
  ])('is shown for %s under the label "%s"', (href, words) => {
    expect(hostBeside(href, words)).toBe(new URL(href).host);
  });

  test('is omitted only when the label is the address', () => {
    for (const words of ['a.example', 'https://a.example/x?y', 'HTTP://A.example', 'a.example/path'])
      expect(hostBeside('https://a.example/x?y', words)).toBeUndefined();
    fc.assert(
      fc.property(fc.webUrl(), fc.string(), (href, words) => {
        const shown = hostBeside(href, words);
        if (shown === undefined) expect(words.toLowerCase()).toContain(new URL(href).host);
        else expect(shown).toBe(new URL(href).host);
      }),
    );
  });
});
