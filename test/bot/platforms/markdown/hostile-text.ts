import fc from 'fast-check';
import MarkdownIt, { type Token } from 'markdown-it';
import { anyText } from '../../../support/any-text.ts';

/** Fragments that are combined at random into hostile answers. */
const PIECES = [
  ...[
    '@',
    '@all',
    'all',
    'everyone',
    '@所',
    '有人',
    '@channel',
    '<!',
    'here',
    '>',
    '<@',
    'U12>',
    '<at id="all">',
    '</at>',
  ],
  ...[
    '<!subteam^S1>',
    '&lt;',
    '&#60;',
    '&#x3C;',
    '!channel>',
    '\\',
    '&commat;',
    '&#64;',
    '@here',
    '@everyone',
    '<#C1|x>',
  ],
  ...['\u200b', '\u202e', '\u2066', '\u{e0041}', '\u00ad', '\ufeff', '\u200d', '👩', '🏳️', '\u0007'],
  ...['<think>', '</think>', '<', '/', 'think', '\n<think>', 'think>'],
  ...[
    '[',
    ']',
    '(',
    ')',
    '![',
    '](',
    '][',
    ']:',
    '[1]',
    '\n[1]: ',
    'https://x.test/',
    'https://y.test',
    'http://z.test/a?b=c',
  ],
  ...[
    '[bank.example](https://x.test/)',
    '[bank.example][1]',
    '![p](https://t.test/?d=1)',
    '![p][1]',
    '[a](javascript:x)',
  ],
  ...[
    '<img src="https://t.test/">',
    '<a href="https://x.test">',
    '</a>',
    '<b>',
    '<br>',
    '<!--',
    '-->',
    '<https://x.test|y.test>',
  ],
  ...[
    '<javascript:x>',
    '<https://y.test>',
    'bank.example',
    'y.test',
    '"',
    ' "t"',
    '<div>',
    '\n<script>',
    '(<https://x.test>)',
  ],
  ...[
    '`',
    '``',
    '```',
    '\n```js\n',
    '\n~~~\n',
    '~~~',
    '**',
    '*',
    '_',
    '~~',
    '\n> ',
    '\n- ',
    '\n1. ',
    '\n    ',
    '\n\n',
    '\n',
    ' ',
    '|',
  ],
  ...[
    '\n| a | b |\n|---|---|\n',
    '\n# ',
    '\n---\n',
    '你好',
    '。',
    'word',
    '\t',
    '\u00a0',
    '&period;',
    'bank\\.example',
    '**bank**.example',
  ],
];

/** Model output that tries to mention people, disguise links or load remote content. */
export const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES), anyText({ maxLength: 6 })), {
    maxLength: 60,
  })
  .map((pieces) => pieces.join(''));

/** A text as streamed tokens, cut at any position, including inside characters and markup. */
export function tokensOf(text: string): fc.Arbitrary<string[]> {
  return fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 8 }).map((cuts) => {
    const at = [...new Set([0, ...cuts, text.length])].sort((a, b) => a - b);
    return at.slice(1).map((end, index) => text.slice(at[index], end));
  });
}

/**
 * Mentions, disguises and remote images, active anywhere in a text. Also matches escaped names; `<` written as an entity is
 * allowed.
 */
export const LIVE_MARK =
  /@\\?(?:所有人|(?:all|everyone|here|channel)(?![A-Za-z0-9_]))|<\\?@|<\\?!(?:channel|here|everyone|subteam)|<\\?\/?at\b|[\u00ad\u200b\u200e\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|!\[[^\]\n]{0,300}\]\(\s*<?https?:/iu;
/** Markup that only one of the platforms interprets. */
export const OWN_MARK = { wecom: /<\s{0,8}\/?\s{0,8}think/i, slack: /<\\?[!@#]|<https?:[^\s<>|]+\|[^<>\n]*>/i };

/** An independent parser with HTML enabled and every link allowed: a client may act on whatever it finds. */
const reader = new MarkdownIt({ html: true });
reader.validateLink = () => true;
reader.normalizeLink = (address) => address;
const HOST = /(?:[\p{L}\p{N}][\p{L}\p{N}-]*\.)+\p{L}{2,}/giu;

/** Images, HTML and misleading links that the independent parser finds. */
export function faultsIn(markdown: string): string[] {
  const faults: string[] = [];
  const walk = (tokens: Token[]): void => {
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'image' && /^https?:/i.test(attribute(token, 'src')))
        faults.push(`image ${attribute(token, 'src')}`);
      if (token.type.startsWith('html')) faults.push(`html ${token.content}`);
      if (token.type === 'link_open') faults.push(...linkFaults(tokens.slice(index)));
      walk(token.children ?? []);
    }
  };
  walk(reader.parse(markdown, {}));
  return faults;
}

function linkFaults(tokens: Token[]): string[] {
  const address = tokens[0] ? attribute(tokens[0], 'href') : '';
  if (!/^https?:/i.test(address)) return [`link to ${address}`];
  const close = tokens.findIndex(({ type }) => type === 'link_close');
  const label = tokens
    .slice(1, close)
    .map(({ type, content }) => (type.endsWith('break') ? ' ' : content))
    .join('');
  const { hostname } = URL.canParse(address) ? new URL(address) : { hostname: '' };
  const others = (label.match(HOST) ?? []).filter((host) => host.toLowerCase() !== hostname);
  return others.length > 0 && label !== address && tokens[0]?.info !== 'auto' ? [`${label} leads to ${address}`] : [];
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '');
}
