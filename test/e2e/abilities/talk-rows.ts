import { both, COUNT, HELLO, NEW, type AbilityRow } from './ability-row.ts';

const HOUR_MS = 3_600_000;
const WHAT_BEFORE = { en: 'What did I ask before?', zh: '我刚才问了什么？' };
const NOTHING_BEFORE = { en: /^This is your first question/, zh: /^这是你在此对话中的第一个问题/ };

const MARKDOWN = [
  '| day | opens |\n| --- | --- |\n| Mon | 7:00 |',
  '```js\nconst open = 7;\n```',
  '- **bold** and `code`\n  - below\n\n1. [link](https://example.org/a)',
].join('\n\n');

/** Conversations, groups, quotes and Markdown. The last row advances the clock by hours. */
export const TALK_ROWS: readonly AbilityRow[] = [
  {
    name: 'quotes: quoted text as context, not as the question',
    only: 'wecom',
    steps: [COUNT, { ...HELLO, quotesFirst: true }],
  },
  {
    name: 'long conversations: history until /new, and /retry',
    steps: [
      COUNT,
      { says: WHAT_BEFORE, reads: { en: /you asked: “count to 7”/, zh: /你问的是：“请数到 7”/ } },
      { says: { en: '/retry', zh: '/重试' }, reads: { en: /you asked: “count to 7”/, zh: /你问的是：“请数到 7”/ } },
      NEW,
      { says: WHAT_BEFORE, reads: NOTHING_BEFORE },
      {
        says: { en: '/usage', zh: '/用量' },
        reads: {
          en: /^Today: [1-9]\d* questions, about [1-9]\d* tokens\./,
          zh: /^今天：[1-9]\d* 个问题，约 [1-9]\d* tokens。/,
        },
      },
    ],
  },
  {
    name: 'long conversations: /stop keeps the text so far and says that it was stopped',
    steps: [
      {
        says: { en: 'count to 5000', zh: '请数到 5000' },
        meanwhile: [{ says: { en: '/stop', zh: '停止' }, reads: { en: 'Stopped.', zh: '已停止。' } }],
        reads: both(/^1 2 3 (?:\d+ )*\d*$/),
        apart: { en: /Stopped\.$/, zh: /已停止。$/ },
        hides: / 5000$/,
      },
    ],
  },
  {
    name: 'groups: answers to mentions only, with speakers told apart',
    steps: [
      { says: COUNT.says, in: 'group', isUnaddressed: true, reads: both('') },
      { ...COUNT, in: 'group' },
      {
        says: WHAT_BEFORE,
        by: 'neighbour',
        in: 'group',
        reads: { en: /you asked: “count to 7”/, zh: /你问的是：“请数到 7”/ },
      },
      { ...HELLO, by: 'neighbour', in: 'group' },
      { ...HELLO, in: 'group' },
    ],
  },
  {
    name: 'the renderer: a table, code and lists, in the Markdown dialect of the platform',
    steps: [
      { says: { en: `repeat: ${MARKDOWN}`, zh: `重复：${MARKDOWN}` }, reads: both(MARKDOWN) },
      {
        says: {
          en: 'repeat: see <https://example.org/a|this page>',
          zh: '重复：请看 <https://example.org/a|this page>',
        },
        reads: {
          wecom: { en: 'see <https://example.org/a|this page>', zh: '请看 <https://example.org/a|this page>' },
          slack: { en: 'see this page (https://example.org/a)', zh: '请看 this page (https://example.org/a)' },
        },
      },
    ],
  },
  {
    name: 'long conversations: notice of a new conversation after the idle time',
    steps: [
      COUNT,
      {
        says: WHAT_BEFORE,
        afterMs: 9 * HOUR_MS,
        reads: NOTHING_BEFORE,
        apart: { en: /Our last conversation was a while ago/, zh: /距离上次对话已久/ },
      },
    ],
  },
];
