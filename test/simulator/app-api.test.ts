import { createSecretKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { readAppMessage } from '../../src/simulator/wecom/read-app-message.ts';
import { APP, movableClock, startAtTest } from './messenger-at-test.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { tries } from '../support/tries.ts';

interface Result {
  errcode: number;
  access_token: string;
  expires_in: number;
  invaliduser?: string;
  userid?: string;
  userid_list: { open_userid: string; userid: string }[];
  invalid_open_userid_list: string[];
}

const redis = useTestRedis();
let messenger: Messenger;
const clock = movableClock();

beforeEach(async () => {
  await redis.redis.flushall();
  messenger = await startAtTest({ redis: redis.redis, botUrl: 'http://127.0.0.1:9', nowMs: clock.nowMs });
});
afterEach(() => messenger.close());

const api = (path: string, json?: object) =>
  (json
    ? got.post(`${messenger.url}/cgi-bin/${path}`, { json })
    : got(`${messenger.url}/cgi-bin/${path}`)
  ).json<Result>();
const token = async () => (await api(`gettoken?corpid=${APP.corpId}&corpsecret=${APP.agentSecret}`)).access_token;
const send = async (message: object) =>
  api(`message/send?access_token=${await token()}`, { agentid: 1000002, ...message });

describe('the access token [wecom-app]', () => {
  test('stays the same within its lifetime, and the old one has expired afterwards', async () => {
    const first = await api(`gettoken?corpid=${APP.corpId}&corpsecret=${APP.agentSecret}`);
    expect(first).toMatchObject({ errcode: 0, expires_in: 7200 });
    expect(await token()).toBe(first.access_token);
    clock.move(7_200_000);
    expect(await api(`user/get?access_token=${first.access_token}&userid=lin`)).toMatchObject({ errcode: 42001 });
    expect(await token()).not.toBe(first.access_token);
    expect(await api(`user/get?access_token=${first.access_token}&userid=lin`)).toMatchObject({ errcode: 42001 });
  });

  test.each([
    ['gettoken?corpid=wrong&corpsecret=x', 40013],
    [`gettoken?corpid=${APP.corpId}&corpsecret=x`, 40001],
    ['user/get?userid=lin', 41001],
    ['user/get?access_token=&userid=lin', 41001],
    ['user/get?access_token=guess&userid=lin', 40014],
    ['auth/getuserinfo?access_token=guess&code=x', 40014],
  ])('%s → %d', async (path, errcode) => expect(await api(path)).toMatchObject({ errcode }));
});

describe('message/send [wecom-app]', () => {
  test('shows a system line in the private chat only', async () => {
    expect(await send({ touser: 'lin', msgtype: 'text', text: { content: 'You are linked.' } })).toMatchObject({
      errcode: 0,
    });
    expect(await messenger.driver.messages('lin')).toMatchObject([{ sender: 'system', text: 'You are linked.' }]);
    expect(await messenger.driver.messages('ada')).toEqual([]);
  });

  test('names unknown receivers in lower case, and returns 81013 if all are unknown', async () => {
    const message = { msgtype: 'markdown', markdown: { content: '**hi**' } };
    expect(await send({ touser: 'lin|NoBody|ada', ...message })).toMatchObject({ errcode: 0, invaliduser: 'nobody' });
    expect(await send({ touser: 'NoBody', ...message })).toMatchObject({ errcode: 81013 });
    expect(await messenger.driver.messages('ada')).toHaveLength(1);
  });

  test('shows a card as text and a link', async () => {
    const textcard = {
      title: 'Sign in',
      description: '<div>Please</div>',
      url: 'http://127.0.0.1:1/link/x',
      btntxt: 'Go',
    };
    await send({ touser: 'lin', msgtype: 'textcard', textcard });
    const [line] = await messenger.driver.messages('lin');
    expect(line?.text).toBe('**Sign in**\n\nPlease\n\n[Go](http://127.0.0.1:1/link/x)');
  });

  test('drops duplicates on request, and more than 30 messages a minute without an error', async () => {
    const text = { touser: 'lin', msgtype: 'text', text: { content: 'same' } };
    await send({ ...text, enable_duplicate_check: 1 });
    expect(await send({ ...text, enable_duplicate_check: 1 })).toMatchObject({ errcode: 0 });
    expect(await messenger.driver.messages('lin')).toHaveLength(1);
    const results = await Promise.all(Array.from({ length: 40 }, () => send(text)));
    expect(results.every(({ errcode }) => errcode === 0)).toBe(true);
    expect((await messenger.driver.messages('lin')).length).toBe(30);
  });

  test('refuses another agent and an unknown message type', async () => {
    const text = { touser: 'lin', msgtype: 'text', text: { content: 'x' } };
    expect(await send({ ...text, agentid: 1 })).toMatchObject({ errcode: 40056 });
    expect(await send({ touser: 'lin', msgtype: 'poem' })).toMatchObject({ errcode: 40058 });
  });

  test('cuts a text to 2048 bytes between characters, and refuses longer markdown', () => {
    const base = { touser: 'lin', agentid: 1 };
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 700, maxLength: 1_500 }), (content) => {
        const read = readAppMessage({ ...base, msgtype: 'text', text: { content } });
        const shown = 'text' in read ? String(read.text) : '';
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2_048);
        expect(content.startsWith(shown)).toBe(true);
        expect(Buffer.byteLength(shown)).toBeGreaterThanOrEqual(Math.min(Buffer.byteLength(content), 2_045));
      }),
      { numRuns: tries(30) },
    );
    expect(readAppMessage({ ...base, msgtype: 'markdown', markdown: { content: '字'.repeat(683) } })).toMatchObject({
      errcode: 45002,
    });
  });
});

test('resolves encrypted ids, and returns plain ones as invalid [wecom-ids]', async () => {
  const { Directory } = await import('../../src/simulator/directory.ts');
  const { decodeAesKey } = await import('../../src/simulator/wecom/crypto.ts');
  const { UserIds } = await import('../../src/simulator/wecom/user-ids.ts');
  const { AES_KEY } = await import('./stand-in-bot.ts');
  const people = [{ id: 'lin', name: '', department: '' }];
  const directory = new Directory({ people, groups: [], botName: '' });
  const openId = new UserIds({
    directory,
    encryptUserIds: true,
    idKey: createSecretKey(decodeAesKey(AES_KEY)),
  }).idForBot('lin');
  const resolve = async (list: unknown) =>
    api(`batch/openuserid_to_userid?access_token=${await token()}`, { open_userid_list: list });
  expect(await resolve([openId, 'ada', 'wo1'])).toMatchObject({
    errcode: 0,
    userid_list: [{ open_userid: openId, userid: 'lin' }],
    invalid_open_userid_list: ['ada', 'wo1'],
  });
  expect(await resolve([])).toMatchObject({ errcode: 40058 });
  expect(await api(`user/get?access_token=${await token()}&userid=ada`)).toMatchObject({ errcode: 0, userid: 'ada' });
  expect(await api(`user/get?access_token=${await token()}&userid=wo1`)).toMatchObject({ errcode: 60111 });
});
