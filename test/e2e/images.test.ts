import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { startScriptedChatServer, type Answer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { PLATFORMS } from '../support/both-platforms.ts';
import { noisePicture } from '../support/noise-picture.ts';
import { childRunning, SEES_CHILDREN } from '../support/child-processes.ts';
import { messagesWaiting } from '../support/messages-waiting.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
let chat: ScriptedChatServer;
const ASKER = 'zhangwei';

const driver = () => deployment.messenger.driver;
type Said = Parameters<ReturnType<typeof driver>['send']>[1];
async function ask(said: Said, person = ASKER) {
  // Slack reserves a leading slash for its own commands.
  const typed = typeof said === 'string' ? said.replace(/^\//, ' /') : said;
  const message = await driver().send(person, typed);
  return driver().waitForAnswer(message.id, { timeoutMs: 25_000 });
}

/** A picture that the tests recognise by its width. */
const picture = (width: number) =>
  sharp({ create: { width, height: 20, channels: 3, background: '#c04030' } })
    .png()
    .toBuffer();

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const says =
  (text: string, until: Promise<unknown> = Promise.resolve()): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: text }));
    void until.then(() => response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`));
  };

interface WirePart {
  type: string;
  text?: string;
  image_url?: { url: string };
}

/** The user messages of the latest model call, with each picture as its width: `text|<40>|text`. */
async function lastPrompt(): Promise<{ model: unknown; asked: string[] }> {
  const body = chat.calls.at(-1)?.body as { model: string; messages: { role: string; content: string | WirePart[] }[] };
  const users = body.messages.filter(({ role }) => role === 'user');
  const asked = users.map(async ({ content }) => {
    if (typeof content === 'string') return content;
    const parts = content.map(async ({ text, image_url: image }) => {
      if (text !== undefined) return text;
      const data = Buffer.from(image?.url.replace(/^data:image\/(png|jpeg);base64,/, '') ?? '', 'base64');
      return `<${(await sharp(data).metadata()).width}>`;
    });
    return (await Promise.all(parts)).join('|');
  });
  return { model: body.model, asked: await Promise.all(asked) };
}

const testWhereSeen = SEES_CHILDREN ? test : test.skip;

describe.each(PLATFORMS)('images on %s', (protocol) => {
  beforeAll(async () => {
    chat = await startScriptedChatServer();
    const env = { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl, CHAT_MODELS: 'svc-max,svc-plus', CHAT_MODEL: 'svc-max' };
    deployment = await startDeployment({ protocol, slackTiming: { editQuietMs: 300 }, env });
  }, 60_000);
  afterAll(async () => {
    await deployment.stop();
    await chat.stop();
  });
  beforeEach(async () => {
    chat.calls.splice(0);
    // Removes the rate limit per person and minute.
    for (const key of await deployment.redis.keys('{p*}:rate:*')) await deployment.redis.del(key);
  });

  test('merges text and images of several messages into one question, in the order in which they were sent', async () => {
    await ask('/new');
    let release: () => void = () => undefined;
    chat.script(says('first', new Promise<void>((resolve) => (release = resolve))), says('Both are red.'));
    await driver().send(ASKER, 'wait a moment');
    await untilTrue(() => chat.calls.length === 1);
    await driver().send(ASKER, { text: 'this is the left one', images: [await picture(40), await picture(41)] });
    await untilTrue(async () => (await messagesWaiting(deployment.redis)) === 2);
    const two = await driver().send(ASKER, { text: 'and this the right one', images: [await picture(42)] });
    await untilTrue(async () => (await messagesWaiting(deployment.redis)) === 3);
    release();
    expect((await driver().waitForAnswer(two.id)).text).toBe('Both are red.');
    expect((await lastPrompt()).asked.at(-1)).toBe('this is the left one|<40>|<41>|and this the right one|<42>');
  });

  test('keeps a picture in the prompt for three turns, and then only mentions it', async () => {
    await ask('/new');
    await ask({ text: 'what is this?', images: [await picture(60)] });
    for (const turn of [1, 2, 3]) {
      await ask(`and now? ${turn}`);
      const { model, asked } = await lastPrompt();
      expect(asked[0]).toBe('what is this?|<60>');
      expect(model).toBe('svc-plus');
    }
    await ask('and at last?');
    const { model, asked } = await lastPrompt();
    expect(asked[0]).toBe('what is this?\n\n[An image came with this message.]');
    expect(model).toBe('svc-max');
  });

  test.each([
    ['is damaged', async () => (await picture(80)).subarray(0, 60)],
    ['more than 25 million pixels', floodedPng],
  ])(
    'refuses an image with a reason (%s), repeats that on /retry, and downloads it once [pinned-media]',
    async (told, make) => {
      await ask('/new');
      const answer = await ask({ text: 'what is this?', images: [await picture(81), await make()] });
      expect(answer.text).toContain(told);
      expect(answer.text).toContain('Image 2 of 2');
      expect((await ask('/retry')).text).toBe(answer.text);
      expect(chat.calls).toHaveLength(0);
    },
  );

  test('sends the images in their order again on /retry, and says so if they are no longer available', async () => {
    await ask('/new');
    const fails: Answer = (response) => void response.writeHead(400).end();
    chat.script(fails, says('Yes.'));
    await ask({ text: 'same?', images: [await picture(90), await picture(91)] });
    expect((await ask('/retry')).text).toBe('Yes.');
    expect((await lastPrompt()).asked.at(-1)).toBe('same?|<90>|<91>');
    const kept = await deployment.redis.keys('{p*}:media:*');
    await Promise.all(kept.map((key) => deployment.redis.del(key)));
    expect((await ask('/retry')).text).toContain('Image 1 of 2 can no longer be downloaded');
  });

  // Slack has no quotes, and the last two tests do not depend on the platform.
  if (protocol === 'slack') return;

  test('sends a quoted image within its quote, also in a group', async () => {
    for (const place of [{}, { conversation: { group: 'wrtown' }, mention: true }]) {
      const plain = { ...place, mention: false };
      const quoted = await driver().send('linxiaoyu', { ...plain, text: 'my new car', images: [await picture(70)] });
      const person = 'mention' in place ? 'zhangwei' : 'linxiaoyu';
      await ask({ ...place, text: 'what colour is it?', quote: quoted.id }, person);
      const { model, asked } = await lastPrompt();
      expect(asked.at(-1)).toBe('<quoted>|<70>|\nmy new car\n</quoted>\n\nwhat colour is it?'.replace('|\n', '|'));
      expect(model).toBe('svc-plus');
    }
  });

  test('only mentions earlier images that have expired or exceed the size limit of a request', async () => {
    await ask('/new');
    const noise = await noisePicture(900, 900, { sigma: 70 }).jpeg({ quality: 95 }).toBuffer();
    await ask({ text: 'these five?', images: [noise, noise, noise, noise, noise] });
    expect((await lastPrompt()).asked.at(-1)).toBe('these five?|<900>|<900>|<900>|<900>|<900>');
    await ask({ text: 'and this?', images: [await picture(61)] });
    expect((await lastPrompt()).asked).toEqual(['these five?\n\n[5 images came with this message.]', 'and this?|<61>']);
    const kept = await deployment.redis.keys('{p*}:media:*');
    await Promise.all(kept.map((key) => deployment.redis.del(key)));
    await ask('well?');
    expect((await lastPrompt()).asked[1]).toBe('and this?\n\n[An image came with this message.]');
  }, 60_000);

  testWhereSeen(
    'refuses an image that kills the decoder with a reason, and reads the next one',
    async () => {
      await ask('/new');
      chat.script(says('A red square.'));
      // The decoder waits some time for the next image. An end during this time is not caused by an image.
      await ask({ text: 'what is this?', images: [await picture(100)] });
      // Large, so that the decoder is killed while it works. Earlier pictures may be decoded first by separate decoders.
      const large = await sharp({ create: { width: 5_000, height: 4_000, channels: 3, background: '#c33' } })
        .png({ compressionLevel: 1 })
        .toBuffer();
      const killer = setInterval(killDecoder, 5);
      const message = await driver().send(ASKER, { text: '这是什么？', images: [large] });
      const { text } = await driver().waitForAnswer(message.id, { timeoutMs: 25_000 });
      clearInterval(killer);
      expect(text).toBe('系统故障，未能打开这张图片，图片本身可能没有问题。请稍后重新发送。');
      expect((await ask({ text: 'and this?', images: [await picture(102)] })).text).toBe('A red square.');
      expect((await lastPrompt()).asked.at(-1)).toBe('and this?|<102>');
    },
    60_000,
  );
});

function killDecoder(): void {
  try {
    const id = childRunning('decoder.mjs');
    if (id !== undefined) process.kill(id, 'SIGKILL');
  } catch {
    // The process has ended in the meantime.
  }
}

/** A PNG whose header announces 10 billion pixels. */
async function floodedPng(): Promise<Buffer> {
  const bytes = await picture(10);
  bytes.writeUInt32BE(100_000, 16);
  bytes.writeUInt32BE(100_000, 20);
  return bytes;
}
