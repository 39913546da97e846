import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';
import { NamedAddresses } from '../../../../src/bot/tools/named-addresses.ts';
import { NamedLinks } from '../../../../src/bot/turn/answer/named-links.ts';

const EVIL = 'https://evil.example/?q=secret';
const TOLD = ['Please read https://docs.example/a, and wiki.example.', 'Address: https://found.example/page'];

const HOSTS = new NamedAddresses(TOLD).hosts;

function shown(text: string): string {
  const links = new NamedLinks();
  links.allowHosts(HOSTS);
  links.add(text);
  return links.completeText();
}

/** Addresses behind labels, as a CommonMark client finds them in the text for a platform. */
function hiddenAddresses(markdown: string): string[] {
  return [...markdown.matchAll(/\[([^\]]*)\]\(<?([^\s)>]+)/g)].flatMap(([, label, address]) =>
    address !== undefined && label !== address ? [address] : [],
  );
}

describe('links written after a tool result', () => {
  test.each([
    [`[click](${EVIL})`, `click (${EVIL})`],
    [`![click](${EVIL})`, `click (${EVIL})`],
    [`see [a](${EVIL}) and [b](https://docs.example/b)`, `see a (${EVIL}) and [b](https://docs.example/b)`],
    [
      '[w](https://wiki.example/x) [f](https://found.example/y)',
      '[w](https://wiki.example/x) [f](https://found.example/y)',
    ],
    ['[x](https://DOCS.example/b)', '[x](https://DOCS.example/b)'],
    ['[x](https://docs.example.evil.example/)', 'x (https://docs.example.evil.example/)'],
    ['[x](https://docs.example@evil.example/)', 'x (https://docs.example@evil.example/)'],
    [`[${EVIL}](${EVIL})`, `[${EVIL}](${EVIL})`],
    ['[1], [2] and (https://evil.example/)', '[1], [2] and (https://evil.example/)'],
  ])('show their address unless their host was named: %s', (said, expected) => {
    expect(shown(said)).toBe(expected);
    expect(shown(expected)).toBe(expected);
  });

  test.each([
    `[click](<${EVIL}>)`,
    `[click](${EVIL} "title")`,
    `[click](\n  ${EVIL})`,
    `> [click](\n> ${EVIL})`,
    `[a [b] c](${EVIL})`,
    `[two\nlines](${EVIL})`,
    `[click][1]\n\n[1]: ${EVIL}`,
    `[click]\n\n[click]:\n  <${EVIL}>`,
    `[![x](https://docs.example/i.png)](${EVIL})`,
  ])('show their address in any link syntax: %j', (said) => {
    for (const dialect of [WECOM_DIALECT, SLACK_DIALECT]) {
      const written = createMarkdownWriter(dialect).renderFinished(shown(said), 20_000);
      expect(written).toContain(EVIL);
      expect(hiddenAddresses(written).filter((address) => address.includes('evil'))).toEqual([]);
    }
  });

  test('are changed, but not those written before it or without one', () => {
    const links = new NamedLinks();
    links.add(`[before](${EVIL})`);
    expect(links.completeText()).toBe(`[before](${EVIL})`);
    links.allowHosts(HOSTS);
    links.add(`\n\n[after](${EVIL})`);
    expect(links.completeText()).toBe(`[before](${EVIL})\n\nafter (${EVIL})`);
  });

  test('are never streamed whole before they are checked, and end the same however they are streamed', () => {
    const part = fc.constantFrom(
      ...['[click](', EVIL, ')', '[b](https://docs.example/b)', ' words ', '\n', '\n\n', ']', '(', '[', ']: '],
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (parts, sizes) => {
          const text = parts.join('');
          const links = new NamedLinks();
          links.allowHosts(HOSTS);
          for (let at = 0, step = 0; at < text.length; step += 1) {
            const size = sizes[step % sizes.length] ?? 1;
            links.add(text.slice(at, at + size));
            at += size;
            // A link whose end has not arrived may still lead elsewhere.
            const whole = links.text.split(')').slice(0, -1);
            expect(whole.flatMap((upToEnd) => hiddenAddresses(upToEnd)).filter((address) => address === EVIL)).toEqual(
              [],
            );
          }
          expect(links.completeText()).toBe(shown(text));
        },
      ),
      // Two links, the second of them still incomplete.
      {
        examples: [
          [[EVIL, ')', '[click](', EVIL], [1]],
          [['[click](', '\n\n', EVIL], [1]],
        ],
      },
    );
  });

  test('are shown in a text without an end of a paragraph', () => {
    const links = new NamedLinks();
    links.allowHosts(HOSTS);
    for (let count = 0; count < 2_000; count += 1) links.add(`word [a](${EVIL}) \n`);
    expect(links.completeText()).toBe(`word a (${EVIL}) \n`.repeat(2_000));
  });
});
