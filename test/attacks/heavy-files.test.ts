import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeDocx } from '../bot/knowledge/documents/make-zip.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';

const HEAVY_PERSON = 'zhangwei';
const OTHER = 'linxiaoyu';
const GROUP = 'wrtown';
const MIB_BYTES = 1024 * 1024;

/** Refused within a fraction of a second. */
const heavy = { name: 'heavy.docx', bytes: makeDocx('<w:tbl><w:tr><w:tc>'.repeat(5_000)) };
/** Refused after seconds. */
const slow = { name: 'slow.docx', bytes: makeDocx(Buffer.alloc(190 * MIB_BYTES, '<w:p/>')) };
const light = { name: 'light.txt', bytes: Buffer.from('Loans last four weeks.') };

const TAKES_TOO_MUCH = 'takes too much time or memory to read';

describe.each(['wecom', 'slack'] as const)('a person whose files are too heavy for the reader, on %s', (protocol) => {
  let deployment: Deployment;
  const driver = () => deployment.messenger.driver;

  async function send(file: typeof heavy, person = HEAVY_PERSON): Promise<string> {
    const message = await driver().say(person, { text: '', files: [file] });
    return (await driver().waitForAnswer(message.id, { timeoutMs: 60_000 })).text;
  }

  async function waitMs(): Promise<number> {
    const [key = ''] = await deployment.redis.keys('{person:*}:heavy-files:wait');
    return deployment.redis.pttl(key);
  }

  async function endWait(): Promise<void> {
    await deployment.redis.del(...(await deployment.redis.keys('{person:*}:heavy-files:wait')));
  }

  beforeAll(async () => {
    deployment = await startDeployment({ protocol, slackTiming: { editQuietMs: 300 }, env: { SIGN_IN: 'off' } });
  }, 60_000);
  afterAll(() => deployment.stop());
  beforeEach(async () => {
    for (const pattern of ['{p*}:rate:*', '{person:*}:*'])
      for (const key of await deployment.redis.keys(pattern)) await deployment.redis.del(key);
  });

  test('must wait after the third one, each time twice as long; others need not wait [heavy-files]', async () => {
    for (let count = 1; count <= 3; count += 1) expect(await send(heavy)).toContain(TAKES_TOO_MUCH);
    expect(await send(light)).toBe(
      'Several of your files took too much time or memory to read, so I read no further ones for now. Please send them again in 1 minute.',
    );
    expect(await send(light, OTHER)).toContain('I have read “light.txt”');
    await driver().say(HEAVY_PERSON, ' /lang zh');
    expect(await send(light)).toBe(
      '你有多个文件读取时太耗时或太占内存，因此暂时不再读取新文件。请在 1 分钟后重新发送。',
    );
    await driver().say(HEAVY_PERSON, ' /lang en');
    await endWait();
    expect(await send(light)).toContain('I have read “light.txt”');
    expect(await send(heavy)).toContain(TAKES_TOO_MUCH);
    expect(await waitMs()).toBeGreaterThan(60_000);
    expect(await waitMs()).toBeLessThanOrEqual(120_000);
    expect(await send(light)).toContain('in 2 minutes.');
    // What is kept of it has an end.
    for (const key of await deployment.redis.keys('{person:*}:heavy-files*'))
      expect(await deployment.redis.pttl(key)).toBeGreaterThan(0);
  }, 180_000);

  // On WeCom a file reaches the bot in a private chat only.
  if (protocol === 'wecom') return;

  test('does not hold up others by heavy files in many threads [heavy-files]', async () => {
    const threads = [];
    for (let count = 0; count < 4; count += 1)
      threads.push(
        await driver().say(HEAVY_PERSON, {
          ...{ text: 'What is it?', files: [slow] },
          ...{ conversation: { group: GROUP }, mention: true },
        }),
      );
    const ended: string[] = [];
    const until = async (name: string, id: string) => {
      const { text } = await driver().waitForAnswer(id, { timeoutMs: 90_000 });
      ended.push(name);
      return text;
    };
    const all = threads.map(({ id }, index) => until(`thread ${index}`, id));
    const asked = await driver().say(OTHER, { text: '', files: [light] });
    expect(await until('other', asked.id)).toContain('I have read “light.txt”');
    // The person's own files are read one after another, in whatever chat they are.
    expect(ended.length).toBeLessThanOrEqual(2);
    const told = await Promise.all(all);
    expect(told.filter((text) => text.includes(TAKES_TOO_MUCH))).toHaveLength(3);
    expect(told.filter((text) => text.includes('Please send them again in 1 minute'))).toHaveLength(1);
  }, 180_000);
});
