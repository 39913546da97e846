import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeDocx } from '../bot/knowledge/documents/make-zip.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';

const HEAVY_PERSON = 'zhangwei';
const OTHER = 'linxiaoyu';
const GROUP = 'wrtown';
const MIB_BYTES = 1024 * 1024;

/** Rejected within a fraction of a second. */
const heavy = { name: 'heavy.docx', bytes: makeDocx('<w:tbl><w:tr><w:tc>'.repeat(5_000)) };
/** Rejected after several seconds. */
const slow = { name: 'slow.docx', bytes: makeDocx(Buffer.alloc(190 * MIB_BYTES, '<w:p/>')) };
const light = { name: 'light.txt', bytes: Buffer.from('Loans last four weeks.') };

const TAKES_TOO_MUCH = 'takes too much time or memory to read';

// On Slack, where a person can send files in many chats.
describe('files that are too expensive to read', () => {
  let deployment: Deployment;
  const driver = () => deployment.messenger.driver;

  async function send(file: typeof heavy, person = HEAVY_PERSON): Promise<string> {
    const message = await driver().send(person, { text: '', files: [file] });
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
    deployment = await startDeployment({
      protocol: 'slack',
      slackTiming: { editQuietMs: 300 },
      env: { SIGN_IN: 'off' },
    });
  }, 60_000);
  afterAll(() => deployment.stop());
  beforeEach(async () => {
    for (const pattern of ['{p*}:rate:*', '{person:*}:*'])
      for (const key of await deployment.redis.keys(pattern)) await deployment.redis.del(key);
  });

  test('block only their sender after the third one, with a wait that doubles each time [heavy-files]', async () => {
    for (let count = 1; count <= 3; count += 1) expect(await send(heavy)).toContain(TAKES_TOO_MUCH);
    expect(await send(light)).toBe(
      'Several of your files took too much time or memory to read, so I have paused reading your files. Please send them again in 1 minute.',
    );
    expect(await send(light, OTHER)).toContain('I have read “light.txt”');
    await driver().send(HEAVY_PERSON, ' /lang zh');
    expect(await send(light)).toBe('读取你的多个文件耗时或占用内存过多，已暂停读取。请在 1 分钟后重新发送。');
    await driver().send(HEAVY_PERSON, ' /lang en');
    await endWait();
    expect(await send(light)).toContain('I have read “light.txt”');
    expect(await send(heavy)).toContain(TAKES_TOO_MUCH);
    expect(await waitMs()).toBeGreaterThan(60_000);
    expect(await waitMs()).toBeLessThanOrEqual(120_000);
    expect(await send(light)).toContain('in 2 minutes.');
    // Every record expires.
    for (const key of await deployment.redis.keys('{person:*}:heavy-files*'))
      expect(await deployment.redis.pttl(key)).toBeGreaterThan(0);
  }, 180_000);

  test('do not delay other people when sent in many threads [heavy-files]', async () => {
    const threads = [];
    for (let count = 0; count < 4; count += 1)
      threads.push(
        await driver().send(HEAVY_PERSON, {
          ...{ text: 'What is it?', files: [count === 0 ? slow : heavy] },
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
    const asked = await driver().send(OTHER, { text: '', files: [light] });
    expect(await until('other', asked.id)).toContain('I have read “light.txt”');
    // Files of one person are read one at a time across all chats.
    expect(ended.length).toBeLessThanOrEqual(2);
    const told = await Promise.all(all);
    expect(told.filter((text) => text.includes(TAKES_TOO_MUCH))).toHaveLength(3);
    expect(told.filter((text) => text.includes('Please send them again in 1 minute'))).toHaveLength(1);
  }, 180_000);
});
