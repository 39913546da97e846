import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { ageTouches } from '../support/age-messages.ts';
import { alterEntry } from '../support/alter-entry.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

// Whole bots, whose key changes while questions wait.

const ANSWER = 'It is answered.';
const town = useSlackTown();
const [keyA, keyB] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const peopleOf = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `U${letter}${index}`);
/** Bots come and go behind the address, so a kept connection may be dead. */
const ask = async (path: string) => (await fetch(town.botUrl + path).catch(() => undefined))?.text();
const ready = async () => JSON.parse((await ask('/readyz')) ?? '{"parts":{}}') as { parts: Record<string, string> };
const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await ask('/metrics')) ?? '')?.[1]);
const askAll = async (people: string[]) => {
  for (const userId of people) await town.sender.direct(userId, 'a question');
};

test('a key that was removed while questions waited: nothing is given up, readiness and log name the setting, and all are answered once it is back', async () => {
  town.chat.script(helloStream(ANSWER));
  await town.startBot({ ROLES: 'receiver', SECRET_KEY: keyA });
  await untilTrue(async () => (await ready()).parts['redis'] === 'ready');
  const people = peopleOf('K', 5);
  await askAll(people);
  await town.stopBots();

  await town.startBot({ SECRET_KEY: keyB });
  await untilTrue(async () => /^5 conversations .*SECRET_KEY_PREVIOUS/.test((await ready()).parts['keys'] ?? ''));
  expect(await metric('parley_key_missing_total')).toBeGreaterThanOrEqual(5);
  expect(await metric('parley_dead_letters_total')).toBe(0);
  expect(town.lines.filter((line) => line.includes('SECRET_KEY_PREVIOUS'))).toHaveLength(1);
  // What the new key sealed is answered meanwhile.
  await askAll(['UNEW']);
  await town.untilShown('DUNEW', [ANSWER]);
  expect(town.chat.calls).toHaveLength(1);
  await town.stopBots();

  await town.startBot({ SECRET_KEY: keyB, SECRET_KEY_PREVIOUS: keyA });
  await ageTouches(town.redis, 15_000);
  for (const userId of people) await town.untilShown(`D${userId}`, [ANSWER], 30_000);
  expect(town.chat.calls).toHaveLength(6);
}, 90_000);

test('a rolling change of keys with questions waiting: old and new workers side by side answer each once', async () => {
  town.chat.script(helloStream(ANSWER));
  const old = await town.startProcess({ ROLES: 'worker', SECRET_KEY: keyA });
  await town.startBot({ ROLES: 'receiver', SECRET_KEY: keyB, SECRET_KEY_PREVIOUS: keyA });
  await untilTrue(async () => (await ready()).parts['redis'] === 'ready');
  const people = peopleOf('R', 8);
  await askAll(people);
  await untilTrue(() => old.output().includes('key that this process lacks'));
  await town.startProcess({ ROLES: 'worker', SECRET_KEY: keyB, SECRET_KEY_PREVIOUS: keyA });
  await askAll(peopleOf('S', 4));
  const everybody = [...people, ...peopleOf('S', 4)];
  await untilTrue(async () => {
    await ageTouches(town.redis, 12_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return everybody.every((userId) => town.textsIn(`D${userId}`).includes(ANSWER));
  }, 60_000);
  for (const userId of everybody) expect(town.textsIn(`D${userId}`)).toEqual([ANSWER]);
  expect(town.chat.calls).toHaveLength(12);
}, 90_000);

test('a message that was altered ends with words that its sender can see, a count and a log line', async () => {
  await town.startBot({ ROLES: 'receiver' });
  await untilTrue(async () => (await ready()).parts['redis'] === 'ready');
  await askAll(['UALTERED']);
  const [inbox = ''] = await town.redis.keys('{p*}:inbox:*');
  await alterEntry(town.redis, inbox);
  await town.stopBots();
  await town.startBot();
  await untilTrue(() => town.textsIn('DUALTERED').some((text) => /damaged.*send it again/.test(text)));
  await untilTrue(async () => (await metric('parley_messages_broken_total')) === 1);
  expect(town.lines.join('\n')).toContain('messages were altered');
  expect(await town.redis.llen(inbox)).toBe(0);
  expect(town.textsIn('DUALTERED')).toHaveLength(1);
}, 60_000);
