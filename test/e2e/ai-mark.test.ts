import { describe, expect, test } from '@jest/globals';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { asConversationId, asDeliveryId } from '../../src/bot/domain/ids.ts';
import { storeDeferredMessage } from '../../src/bot/reply/follow-ups/deferred-messages.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms, PLATFORMS, type Said } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();

describe.each(PLATFORMS)('the mark of an answer on %s [ai-mark]', (platform) => {
  async function say(setting: Record<string, string>, said: Partial<Said>) {
    const here = bothPlatforms(deployment);
    deployment.chat.script(helloStream('The library opens at eight.'));
    const { AI_MARK: _off, ...env } = deployment.env;
    await deployment.startBot({ ...env, ...here.env, AI_MARK: 'yes', ...setting });
    const [seen] = await here.sayAll(platform, [{ person: 'ann', text: 'When does it open?', ...said }]);
    return { text: seen?.snapshots.at(-1), apart: seen?.apart.join('\n') ?? '' };
  }

  test.each([
    ['in the language of the question', {}, {}, 'AI-generated'],
    ['in the language of the question', {}, { text: '图书馆几点开门？' }, '由 AI 生成'],
    ['in groups', {}, { group: 'C1' }, 'AI-generated'],
    ['in words of the institution', { AI_MARK: 'Written by a machine' }, {}, 'Written by a machine'],
  ])('stands beside the text, %s', async (_where, setting, said, words) => {
    const { text, apart } = await say(setting, said);
    expect(text).toBe('The library opens at eight.');
    expect(apart).toContain(words);
  });

  test.each([
    ['the reply to a command', {}, { text: '/help' }],
    ['an answer with AI_MARK=no', { AI_MARK: 'no' }, {}],
  ])('is absent from %s', async (_what, setting, said) => {
    const { text, apart } = await say(setting, said);
    expect(`${String(text)}${apart}`).not.toMatch(/AI-generated|由 AI 生成/);
  });
});

test('an earlier answer has the mark before the reply to a command, too [ai-mark]', async () => {
  await deployment.startBot({ AI_MARK: 'yes' });
  await deployment.sender.direct('U1', 'help');
  await untilTrue(() => deployment.slack.messages.length === 1);
  const [state = ''] = await deployment.redis.keys('*:state:*');
  const [, partition, id] = /^\{p(\d+)\}:state:(.*)$/.exec(state) ?? [];
  const conversation = { partition: Number(partition), id: asConversationId(id ?? '') };
  const keyRing = new KeyRing([Buffer.from(deployment.env['SECRET_KEY'] ?? '', 'base64')]);
  const leftover = { conversation, deliveryId: asDeliveryId('a1'), text: 'The library opens at eight.' };
  await storeDeferredMessage(deployment.redis, keyRing, leftover);
  await deployment.sender.direct('U1', 'help');
  await untilTrue(() => deployment.slack.messages.length === 2);
  expect(deployment.slack.messages.map(({ note }) => note)).toEqual(['', 'AI-generated']);
});

test('an export as a file begins with the mark as metadata [ai-mark]', async () => {
  const long = Array.from({ length: 600 }, (_, line) => `line ${line} of an answer`).join('\n');
  deployment.chat.script(helloStream(long));
  await deployment.startBot({ AI_MARK: 'yes' });
  const idle = async () => (await deployment.redis.keys('*:pending')).length === 0;
  for (let count = 0; count < 4; count += 1) {
    await deployment.sender.direct('U1', `question ${count}`);
    await untilTrue(idle);
  }
  const before = deployment.slack.botFiles.length;
  await deployment.sender.direct('U1', 'export');
  await untilTrue(idle);
  const [file] = deployment.slack.botFiles.slice(before);
  expect(file?.text).toMatch(/^---\nabout: "AI-generated"\nAIGC: \{"Label":"1".*\}\n---\n\nOur conversation/);
});

test('an answer as a file begins with the mark as metadata, and an export names it [ai-mark]', async () => {
  const long = Array.from({ length: 3_000 }, (_, line) => `line ${line} of a long answer`).join('\n');
  deployment.chat.script(helloStream(long), helloStream('Short.'));
  await deployment.startBot({ AI_MARK: 'yes' });
  await deployment.sender.direct('U1', 'a long one');
  await untilTrue(() => deployment.slack.botFiles.some(({ shownIn }) => shownIn.length > 0));
  const [file] = deployment.slack.botFiles;
  const [, header = '', body] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(file?.text ?? '') ?? [];
  expect(body).toBe(long);
  const label: unknown = JSON.parse(/^AIGC: (.*)$/m.exec(header)?.[1] ?? '');
  expect(label).toMatchObject({
    Label: '1',
    ContentProducer: 'Parley',
    ProduceID: expect.stringMatching(/^[0-9a-f]+$/),
  });
  expect(header).toContain('about: "AI-generated"');
  await deployment.sender.direct('U1', 'export');
  await untilTrue(() => deployment.textsIn('DU1').some((text) => text.includes('Answers: AI-generated.')));
});
