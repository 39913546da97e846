import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { askedText } from '../../src/service/demo-model/asked-text.ts';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { splitSections } from '../../src/service/demo-model/doc-sections.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { splitTokens } from '../../src/service/chat/estimate-tokens.ts';

const README = `# Parley

Parley puts a chat service behind a messaging app.

## Connect WeCom

Create an AI bot in the WeCom console and choose callback mode.

1. Copy the token into \`WECOM_BOT_TOKEN\`.
2. Copy the AES key.
3. Write to the bot.

\`\`\`sh
npm run check
# not a heading
\`\`\`

## Settings

| name | default | meaning |
| --- | --- | --- |
| \`WORKER_CONCURRENCY\` | 200 | turns at once in one worker |
| \`HISTORY_TTL_DAYS\` | 30 | days that a conversation is kept |
`;

let dir: string;
let docs: DocSearch;
const models = shippedModelsByName();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-docs-'));
  await mkdir(join(dir, 'docs'));
  await writeFile(join(dir, 'README.md'), README);
  await writeFile(
    join(dir, 'docs', 'SLACK.md'),
    `# Slack\n\n## Connect Slack\n\n${[1, 2, 3, 4, 5].map((step) => `${step}. Slack ${'and more '.repeat(100)}`).join('\n')}\n`,
  );
  await writeFile(
    join(dir, 'docs', 'OPERATIONS.md'),
    '# Operations\n\n## Deploy with compose\n\nRun `docker compose up` on the host.\n',
  );
  docs = new DocSearch(dir);
});
afterAll(() => rm(dir, { recursive: true }));

async function ask(question: string, search = docs): Promise<string> {
  const request = readChatRequest({ model: 'svc-max', messages: [{ role: 'user', content: question }] }, models);
  return (await composeAnswer(request, search)).text;
}

describe('answers of the built-in model from the pages', () => {
  test.each([
    ['How do I connect WeCom?', 'WECOM_BOT_TOKEN', 'README.md, “Connect WeCom”'],
    ['How do I connect Parley to WeCom?', 'callback mode', 'README.md, “Connect WeCom”'],
    ['怎样接入企业微信？', 'callback mode', 'README.md，“Connect WeCom”'],
    ['What does WORKER_CONCURRENCY mean?', '200 — turns at once', 'README.md, “Settings”'],
    ['怎么部署？', 'docker compose up', 'docs/OPERATIONS.md，“Deploy with compose”'],
    ['what is parley', 'behind a messaging app', 'README.md, “Parley”'],
  ])('%s', async (question, excerpt, source) => {
    const text = await ask(question);
    expect(text).toContain(excerpt);
    expect(text).toContain(source);
  });

  test.each(['Who won the football match in Paris yesterday?', '写一首关于春天的诗', 'x'.repeat(4_000)])(
    'say that the model does not know: %s',
    async (question) => {
      expect(await ask(question)).toMatch(/small demo model and cannot answer|小型演示模型，无法回答/);
    },
  );

  test('list steps from the first one without gaps, and a setting without its neighbours', async () => {
    const steps = await ask('How do I connect WeCom?');
    expect(steps.indexOf('1. Copy the token')).toBeLessThan(steps.indexOf('2. Copy the AES key'));
    expect(steps).toContain('3. Write to the bot');
    expect(await ask('What does WORKER_CONCURRENCY mean?')).not.toContain('HISTORY_TTL_DAYS');
  });

  test('end with the place of the rest if there are too many steps for one answer', async () => {
    const text = await ask('How do I connect Slack?');
    expect(text).toContain('\n2. Slack');
    expect(text).not.toContain('\n3. Slack');
    expect(text).toMatch(/This is the beginning; the rest is in the same place\.\n\nFrom docs\/SLACK\.md/);
  });

  test('work without any pages', async () => {
    expect(await ask('How do I connect WeCom?', new DocSearch('/nonexistent'))).toContain('small demo model');
  });

  test('keep code blocks whole and table rows readable', () => {
    const sections = splitSections('README.md', README);
    expect(sections.map(({ title }) => title)).toEqual(['Parley', 'Connect WeCom', 'Settings']);
    expect(sections[1]?.blocks.at(-1)).toBe('```sh\nnpm run check\n# not a heading\n```');
    expect(sections[2]?.blocks.at(-1)).toBe('- `HISTORY_TTL_DAYS` — 30 — days that a conversation is kept');
  });
});

describe('small skills of the built-in model', () => {
  test.each([
    ['count to 5', '1 2 3 4 5'],
    ['Please count from 3 to 1.', '3 2 1'],
    ['数到 4', '1 2 3 4'],
    ['Repeat after me: hello 世界', 'hello 世界'],
  ])('%s', async (question, answer) => expect(await ask(question)).toBe(answer));

  test.each([
    ['say 250 words', 250],
    ['Write exactly 40 words about anything', 40],
    ['写 30 个字', 30],
  ])('produce the requested number of tokens for %s', async (question, count) =>
    expect(splitTokens(await ask(question))).toHaveLength(count),
  );

  test.each([
    ['hello', 'Hello!'],
    ['你好！', '你好！'],
    ['Who are you?', 'small built-in model'],
    ['你是谁？', '内置的小模型'],
    ['thanks a lot', 'welcome'],
    ['what can you do', 'count'],
    ['member-2: hello', 'Hello!'],
    ['Hi Parley!', 'Hello!'],
    ['早上好', '你好！'],
    ['How are you?', 'Hello!'],
    ['What can you help me with?', 'I can:'],
    ['What can you do for me?', 'I can:'],
    ['what can you do here?', 'I can:'],
    ['help', 'I can:'],
    ['你能做什么？', '我能：'],
    ['你可以帮我做什么', '我能：'],
    ['What words can I type?', '/retry'],
    ['Which commands are there?', '/unlink'],
    ['有哪些指令？', '新对话'],
    ['我可以输入哪些命令？', '解绑'],
    ['Who do you think I am?', '/whoami'],
    ['Do you know who I am?', '/whoami'],
    ['你知道我是谁吗？', '我是谁'],
    ['what model are you', 'small built-in model'],
  ])('include small talk: %s', async (question, part) => expect(await ask(question)).toContain(part));
});

describe('questions that begin like small talk, answered from the pages', () => {
  test.each([
    ['help me connect WeCom', 'callback mode'],
    ['帮助我接入企业微信', 'callback mode'],
    ['What do you know about WORKER_CONCURRENCY?', 'turns at once'],
    ['What are you told by HISTORY_TTL_DAYS?', 'days that a conversation is kept'],
  ])('%s', async (question, part) => expect(await ask(question)).toContain(part));
});

describe('questions inside labels of speakers or behind quotes', () => {
  const label = (text: string) => `<message from="member-3f9a0c11d2">\n${text}\n</message>`;
  const quoting = (quote: string, text: string) => `<quoted>\n${quote}\n</quoted>\n\n${text}`;

  test.each([
    [label('hello'), 'Hello!'],
    [label('Search for otters'), 'cannot search the web'],
    [quoting('count to 3', 'hello'), 'Hello!'],
    [quoting('count to 3', label('你好')), '你好！'],
    [quoting('count to 3', ''), '1 2 3'],
    [quoting('x'.repeat(9_000), 'count to 4'), '1 2 3 4'],
    [`<quoted>\ncount to 3`, '1 2 3'],
  ])('%j', async (message, part) => expect(await ask(message)).toContain(part));

  test('are read the same as the plain question, for any text', () => {
    const piece = fc.constantFrom('<', '>', '/', 'message', 'quoted', '</message', '\n', ' ', '你好', 'count to 3');
    const said = fc.array(fc.oneof(piece, fc.string()), { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(said, said, (text, quote) => {
        // Labels are always written this way. No text inside one contains them.
        fc.pre(![text, quote].some((one) => /<\s*\/?\s*[a-z_-]+/i.test(one)) && text.trim() !== '');
        const plain = askedText(text);
        expect(askedText(label(text))).toBe(plain);
        expect(askedText(quoting(quote, text))).toBe(plain);
        expect(askedText(quoting(quote, label(text)))).toBe(plain);
      }),
    );
  });
});

describe('images', () => {
  const MIB = 1024 * 1024;
  const frame = Buffer.from('0002ffc0001108000200030301220002110103110100', 'hex');
  /** A JPEG of 3 × 2 pixels whose size follows bytes that belong to no segment. */
  const jpeg = (fillerBytes: number) =>
    Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(fillerBytes), frame, Buffer.alloc(2 * MIB)]);
  const describing = async (...images: Buffer[]) => {
    const content = images.map((bytes) => ({
      type: 'image_url',
      image_url: { url: `data:image/jpeg;base64,${bytes.toString('base64')}` },
    }));
    const request = readChatRequest({ model: 'svc-plus', messages: [{ role: 'user', content }] }, models);
    return (await composeAnswer(request, docs)).text;
  };

  test('are described by their beginning, with their whole size', async () => {
    expect(await describing(jpeg(1_000))).toContain('a JPEG image of 3 × 2 pixels (2049 KiB)');
  });

  test.each([
    ['one image', [jpeg(MIB)]],
    ['several images', [jpeg(MIB / 2), jpeg(MIB / 2)]],
  ])('are searched for their size in at most 1 MiB: %s', async (_, images) => {
    const text = await describing(...images);
    expect(text).toContain('an image that I cannot read');
    expect(text).not.toContain('3 × 2');
  });
});

test('splitTokens loses no text', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => splitTokens(text).join('') === text));
});

test('the built-in model answers any question quickly', async () => {
  const words = fc.constantFrom(
    'what',
    'did',
    'i',
    'ask',
    '数到',
    'say',
    '9',
    'words',
    'count to',
    '你好',
    '\n',
    'repeat:',
    '|',
    '`',
    'WeCom',
    'member-1:',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(words, fc.string()), { maxLength: 60 }),
      async (parts) => typeof (await ask(parts.join(' '))) === 'string',
    ),
  );
});
