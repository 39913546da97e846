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
type Said = Parameters<ReturnType<typeof driver>['say']>[1];
async function ask(said: Said, person = ASKER) {
  // Slack keeps what begins with a slash for itself.
  const typed = typeof said === 'string' ? said.replace(/^\//, ' /') : said;
  const message = await driver().say(person, typed);
  return driver().waitForAnswer(message.id, { timeoutMs: 25_000 });
}

/** A picture that is known by its size, whatever it is written as. */
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

/** The messages of the latest call, each picture as its width: `text|<40>|text`. */
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
    // A person may ask only so often in a minute.
    for (const key of await deployment.redis.keys('{p*}:rate:*')) await deployment.redis.del(key);
  });

  test('text and images of several messages are one question, in the order in which they were said', async () => {
    await ask('/new');
    let release: () => void = () => undefined;
    chat.script(says('first', new Promise<void>((resolve) => (release = resolve))), says('Both are red.'));
    await driver().say(ASKER, 'wait a moment');
    await untilTrue(() => chat.calls.length === 1);
    await driver().say(ASKER, { text: 'this is the left one', images: [await picture(40), await picture(41)] });
    await untilTrue(async () => (await messagesWaiting(deployment.redis)) === 2);
    const two = await driver().say(ASKER, { text: 'and this the right one', images: [await picture(42)] });
    await untilTrue(async () => (await messagesWaiting(deployment.redis)) === 3);
    release();
    expect((await driver().waitForAnswer(two.id)).text).toBe('Both are red.');
    expect((await lastPrompt()).asked.at(-1)).toBe('this is the left one|<40>|<41>|and this the right one|<42>');
  });

  test('people can ask on about a picture; after three turns it is only told that there was one', async () => {
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
    'an image that %s is refused kindly, said once more at /retry, and downloaded once [pinned-media]',
    async (told, make) => {
      await ask('/new');
      const answer = await ask({ text: 'what is this?', images: [await picture(81), await make()] });
      expect(answer.text).toContain(told);
      expect(answer.text).toContain('Image 2 of 2');
      expect((await ask('/retry')).text).toBe(answer.text);
      expect(chat.calls).toHaveLength(0);
    },
  );

  test('/retry asks with the images in their order, and says so when they are gone', async () => {
    await ask('/new');
    const fails: Answer = (response) => void response.writeHead(400).end();
    chat.script(fails, says('Yes.'));
    await ask({ text: 'same?', images: [await picture(90), await picture(91)] });
    expect((await ask('/retry')).text).toBe('Yes.');
    expect((await lastPrompt()).asked.at(-1)).toBe('same?|<90>|<91>');
    const kept = await deployment.redis.keys('{p*}:media:*');
    await Promise.all(kept.map((key) => deployment.redis.del(key)));
    expect((await ask('/retry')).text).toContain('Image 1 of 2 could not be downloaded any more');
  });

  // Slack has no quotes, and the other two are the same whoever brought the image.
  if (protocol === 'slack') return;

  test('a quoted image counts, within its quote; in a group too', async () => {
    for (const place of [{}, { conversation: { group: 'wrtown' }, mention: true }]) {
      const plain = { ...place, mention: false };
      const quoted = await driver().say('linxiaoyu', { ...plain, text: 'my new car', images: [await picture(70)] });
      const person = 'mention' in place ? 'zhangwei' : 'linxiaoyu';
      await ask({ ...place, text: 'what colour is it?', quote: quoted.id }, person);
      const { model, asked } = await lastPrompt();
      expect(asked.at(-1)).toBe('<quoted>|<70>|\nmy new car\n</quoted>\n\nwhat colour is it?'.replace('|\n', '|'));
      expect(model).toBe('svc-plus');
    }
  });

  test('pictures that are too many bytes for a later request, or gone, are only told of', async () => {
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
  }, 40_000);

  testWhereSeen(
    'an image that ends the decoder is refused kindly, and the next one is looked at',
    async () => {
      await ask('/new');
      chat.script(says('A red square.'));
      // The decoder waits for the next image for a while; that it ends then is no fault of any image.
      await ask({ text: 'what is this?', images: [await picture(100)] });
      // Large, so that its decoder is met at work; pictures of before may be looked at first, with decoders of their own.
      const large = await sharp({ create: { width: 5_000, height: 4_000, channels: 3, background: '#c33' } })
        .png({ compressionLevel: 1 })
        .toBuffer();
      const killer = setInterval(killDecoder, 5);
      const message = await driver().say(ASKER, { text: '这是什么？', images: [large] });
      const { text } = await driver().waitForAnswer(message.id, { timeoutMs: 25_000 });
      clearInterval(killer);
      expect(text).toBe('打开这张图片时系统出现故障，图片本身可能没有问题。请稍后重新发送。');
      expect((await ask({ text: 'and this?', images: [await picture(102)] })).text).toBe('A red square.');
      expect((await lastPrompt()).asked.at(-1)).toBe('and this?|<102>');
    },
    40_000,
  );
});

function killDecoder(): void {
  try {
    const id = childRunning('decoder.mjs');
    if (id !== undefined) process.kill(id, 'SIGKILL');
  } catch {
    // It ended by itself just now.
  }
}

/** A PNG whose header promises ten thousand million pixels. */
async function floodedPng(): Promise<Buffer> {
  const bytes = await picture(10);
  bytes.writeUInt32BE(100_000, 16);
  bytes.writeUInt32BE(100_000, 20);
  return bytes;
}
