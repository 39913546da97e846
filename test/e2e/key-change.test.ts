import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { ageTouches } from '../support/age-messages.ts';
import { alterEntry } from '../support/alter-entry.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// Complete bots whose key changes while questions wait.

const ANSWER = 'It is answered.';
const deployment = useSlackDeployment();
const [keyA, keyB] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const peopleOf = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `U${letter}${index}`);
/** Bots restart at the same address, so a kept-alive connection may be dead. */
const ask = async (path: string) => (await fetch(deployment.botUrl + path).catch(() => undefined))?.text();
const ready = async () => JSON.parse((await ask('/readyz')) ?? '{"parts":{}}') as { parts: Record<string, string> };
const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await ask('/metrics')) ?? '')?.[1]);
const askAll = async (people: string[]) => {
  for (const userId of people) await deployment.sender.direct(userId, 'a question');
};

test('a key removed while questions wait loses no question: readiness and log name the setting, and all are answered once it is restored', async () => {
  deployment.chat.script(helloStream(ANSWER));
  await deployment.startBot({ ROLES: 'receiver', SECRET_KEY: keyA });
  await untilTrue(async () => (await ready()).parts['redis'] === 'ready');
  const people = peopleOf('K', 5);
  await askAll(people);
  await deployment.stopBots();

  await deployment.startBot({ SECRET_KEY: keyB });
  await untilTrue(async () => /^5 conversations .*SECRET_KEY_PREVIOUS/.test((await ready()).parts['keys'] ?? ''));
  expect(await metric('parley_key_missing_total')).toBeGreaterThanOrEqual(5);
  expect(await metric('parley_dead_letters_total')).toBe(0);
  expect(deployment.lines.filter((line) => line.includes('SECRET_KEY_PREVIOUS'))).toHaveLength(1);
  // Questions encrypted with the new key are answered meanwhile.
  await askAll(['UNEW']);
  await deployment.untilShown('DUNEW', [ANSWER]);
  expect(deployment.chat.calls).toHaveLength(1);
  await deployment.stopBots();

  await deployment.startBot({ SECRET_KEY: keyB, SECRET_KEY_PREVIOUS: keyA });
  await ageTouches(deployment.redis, 15_000);
  for (const userId of people) await deployment.untilShown(`D${userId}`, [ANSWER], 30_000);
  expect(deployment.chat.calls).toHaveLength(6);
}, 90_000);

test('old and new workers side by side answer each waiting question once during a rolling key change', async () => {
  deployment.chat.script(helloStream(ANSWER));
  const old = await deployment.startProcess({ ROLES: 'worker', SECRET_KEY: keyA });
  await deployment.startBot({ ROLES: 'receiver', SECRET_KEY: keyB, SECRET_KEY_PREVIOUS: keyA });
  await untilTrue(async () => (await ready()).parts['redis'] === 'ready');
  const people = peopleOf('R', 8);
  await askAll(people);
  await untilTrue(() => old.output().includes('key that this process does not have'));
  await deployment.startProcess({ ROLES: 'worker', SECRET_KEY: keyB, SECRET_KEY_PREVIOUS: keyA });
  await askAll(peopleOf('S', 4));
  const everybody = [...people, ...peopleOf('S', 4)];
  await untilTrue(async () => {
    await ageTouches(deployment.redis, 12_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return everybody.every((userId) => deployment.textsIn(`D${userId}`).includes(ANSWER));
  }, 60_000);
  for (const userId of everybody) expect(deployment.textsIn(`D${userId}`)).toEqual([ANSWER]);
  expect(deployment.chat.calls).toHaveLength(12);
}, 90_000);

test('a message that was altered causes a visible notice, a count and a log line', async () => {
  await deployment.startBot({ ROLES: 'receiver' });
  await untilTrue(async () => (await ready()).parts['redis'] === 'ready');
  await askAll(['UALTERED']);
  const [inbox = ''] = await deployment.redis.keys('{p*}:inbox:*');
  await alterEntry(deployment.redis, inbox);
  await deployment.stopBots();
  await deployment.startBot();
  await untilTrue(() => deployment.textsIn('DUALTERED').some((text) => /damaged.*send it again/.test(text)));
  await untilTrue(async () => (await metric('parley_messages_broken_total')) === 1);
  expect(deployment.lines.join('\n')).toContain('messages were altered');
  expect(await deployment.redis.llen(inbox)).toBe(0);
  expect(deployment.textsIn('DUALTERED')).toHaveLength(1);
}, 60_000);
