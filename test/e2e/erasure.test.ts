import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { conversationOf, personIdOf } from '../../src/bot/domain/conversation.ts';
import { conversationKeys, holdsKey } from '../../src/bot/domain/partition-keys.ts';
import { keys as identityKeys } from '../../src/bot/identity/store.ts';
import { storeNotice } from '../../src/bot/reply/notices.ts';
import { storeDeferredMessage } from '../../src/bot/reply/follow-ups/deferred-messages.ts';
import { sealSummary } from '../../src/bot/turn/conversation/summary.ts';
import { asAccountId } from '../../src/bot/domain/ids.ts';
import { countedStream } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { runAdmin } from '../support/run-admin.ts';
import { readStored, type StoredText } from '../support/scan-stored.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { personOf, storeSignIn } from '../support/stored-sign-in.ts';

const deployment = useSlackDeployment();
let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-erasure-'))));
afterAll(() => rmSync(folder, { recursive: true }));

const SIGN_IN = {
  ...{ SIGN_IN: 'required', SIGN_IN_URL: 'http://127.0.0.1:9', SIGN_IN_CLIENT_ID: 'erasure' },
  ...{ SIGN_IN_CLIENT_SECRET: 'erasure-secret-0123456789', SIGN_IN_PROOF: 'same-id' },
};
const EVE = 'UEVECANARY';
const EVE_ACCOUNT = 'account-of-evecanary';
const BOB = 'UBOB';
const CANARY = /evecanary/i;
const eveId = personIdOf(personOf('slack', EVE), EVE);
const keyRing = () => new KeyRing([Buffer.from(deployment.env['SECRET_KEY'] ?? '', 'base64')]);
const idle = () => untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);
const say = async (userId: string, text: string, extra: object = {}) => {
  const ts = await deployment.sender.direct(userId, text, extra);
  await idle();
  return ts;
};

let started = 0;
async function start(more: Record<string, string> = {}): Promise<Record<string, string>> {
  started += 1;
  const policy = join(folder, `policy-${started}.json`);
  const otherwise = { use: true, models: 'all', private: true, groups: 'all', budget: { questionsPerDay: 50 } };
  writeFileSync(policy, JSON.stringify({ rules: [], otherwise }));
  const audit = { AUDIT: 'yes', AUDIT_DIR: join(folder, `audit-${started}`) };
  const given = { ...SIGN_IN, ...audit, POLICY_FILE: policy, FEEDBACK_TEXT: 'yes', SLACK_BUTTONS: 'yes', ...more };
  deployment.chat.script((response, call) => {
    const whom = JSON.stringify(call.body).includes('bobwords') ? 'bobwords' : 'evecanary';
    return countedStream(`An answer for ${whom}.`, 90, 10)(response, call);
  });
  await deployment.startBot(given);
  await storeSignIn(deployment, personOf('slack', EVE), { accountKey: 'ke', id: EVE_ACCOUNT, name: 'Eve Evecanary' });
  await storeSignIn(deployment, personOf('slack', BOB), { accountKey: 'kb', id: 'account-of-bob' });
  return { ...deployment.env, ...given };
}

const privateChat = (userId: string) =>
  conversationOf({ ...personOf('slack', userId), chat: { kind: 'private', id: userId }, sender: { userId } }, 'member');

/** Plants data of a person in every place that the product stores. */
async function plant(userId: string, account: string, words: string): Promise<void> {
  const { redis } = deployment;
  const file = `/files-pri/T1-F${userId}/${words}.txt`;
  deployment.slack.files.set(file, Buffer.from(`a file about ${words}`));
  const url = `${new URL(deployment.slack.apiUrl).origin}${file}`;
  const files = [{ id: `F${userId}`, name: `${words}.txt`, url_private_download: url, url_private: url }];
  await say(userId, `a file question ${words}`, { subtype: 'file_share', files });
  const ts = await say(userId, `a private question ${words}`);
  await say(userId, `in a thread ${words}`, { thread_ts: ts });
  await deployment.sender.mention({ channel: 'C1', userId }, `in a group ${words}`);
  await idle();
  await say(userId, '/lang en');

  const conversation = privateChat(userId);
  const { summary } = conversationKeys(conversation);
  const summed = { version: 1, text: `notes ${words}`, chatKind: 'private', coveredToMs: 1 } as const;
  const sealed = sealSummary(keyRing(), conversation.id, { ...summed, accountId: asAccountId(account) });
  await redis.set(summary, sealed, 'PX', 1_000_000);
  await storeNotice(redis, keyRing(), { conversation, text: `a notice ${words}` });
  await storeDeferredMessage(redis, keyRing(), { conversation, text: `a rest ${words}` } as never);
}

async function rate(userId: string): Promise<void> {
  const at = deployment.slack.messages.findLast(
    ({ channel, buttons }) => channel === `D${userId}` && buttons.length > 0,
  );
  const button = at?.buttons.find(({ action_id: id }) => id.includes('rate') || id.includes('feedback'));
  if (!at || !button) throw new Error('No message has a button for ratings');
  await deployment.sender.press({ channel: at.channel, ts: at.ts, userId }, button);
  await untilTrue(async () => (await deployment.redis.keys('*:rated-by:*')).length > 0);
}

const found = (stored: readonly StoredText[], what: RegExp) => [
  ...new Set(stored.filter(({ text }) => what.test(text)).map(({ key }) => kindOf(key))),
];
const kindOf = (key: string) => /^\{p\d+\}:([a-z-]+)/.exec(key)?.[1] ?? key.replace(/[0-9a-f]{16,}.*$/, '');
/** Every trace: words, ids, and the pseudonyms that keys use. */
const traces = () =>
  new RegExp(
    [
      ...['evecanary', eveId, `member-${eveId.slice(0, 10)}`],
      ...['media-kept', 'media-share', 'heavy-files', 'feedback', 'person-rate'].map((one) =>
        keyRing().pseudonym(one, eveId),
      ),
      keyRing().pseudonym('budget', `person:${EVE_ACCOUNT}`),
    ].join('|'),
    'i',
  );
const auditFiles = (env: Record<string, string>) => {
  const directory = env['AUDIT_DIR'] ?? '';
  return readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
};

describe('erasing an account [erasure]', () => {
  test('finds canaries in every place before and nothing but the proof after; another person keeps everything [audit-record]', async () => {
    const env = await start();
    await plant(EVE, EVE_ACCOUNT, 'evecanary');
    await plant(BOB, 'account-of-bob', 'bobwords');
    await rate(EVE);
    await untilTrue(async () => (await deployment.redis.hlen('{audit}:names')) === 2);
    const before = await readStored(deployment.redis, keyRing());
    expect(found(before, CANARY)).toEqual(
      expect.arrayContaining([
        'history',
        'summary',
        'notices',
        'leftovers',
        'media',
        'message',
        '{audit}:names',
        '{id}:link:',
      ]),
    );
    expect(found(before, traces())).toEqual(
      expect.arrayContaining(['usage', 'preferences', 'chats', 'rated-by', 'media-kept', '{budget:']),
    );
    expect(auditFiles(env).join('')).not.toMatch(CANARY);
    const own = await runAdmin(env, 'audit', 'show', { account: EVE_ACCOUNT });
    expect(own.text).toContain('"event":"question"');

    const erased = await runAdmin(env, 'erase', EVE_ACCOUNT);
    expect(erased).toMatchObject({
      code: 0,
      data: { outcome: 'erased', counts: { links: 1, turns: 7, auditNames: 1 } },
    });
    expect(erased.asides).not.toMatch(CANARY);
    await deployment.stopBots();
    const after = await readStored(deployment.redis, keyRing());
    // Kept for a day, so that a failover does not restore the link.
    const rest = after.filter(({ key }) => key !== identityKeys.changed(eveId));
    expect(found(rest, traces())).toEqual([]);
    expect(found(rest, CANARY)).toEqual([]);
    expect(deployment.lines.join('\n')).not.toMatch(/acc-eve|account-of-evecanary/);
    const later = await runAdmin(env, 'audit', 'show');
    expect(later.text).toContain('"event":"erased"');
    expect(later.text).not.toMatch(CANARY);
    expect(await runAdmin(env, 'audit', 'verify')).toMatchObject({ code: 0, data: { breaks: [] } });
    const unreadable = await runAdmin({ ...env, AUDIT_DIR: env['POLICY_FILE'] ?? '' }, 'audit', 'verify');
    expect(unreadable).toMatchObject({ code: 1, asides: `Cannot read ${env['POLICY_FILE'] ?? ''}: ENOTDIR\n` });

    const ofBob = (stored: readonly StoredText[]) =>
      stored.filter(({ text }) => /bobwords|UBOB/.test(text)).map(({ key, text }) => `${key} ${text}`);
    expect(ofBob(after).filter((one) => !one.includes('{p0}:audit'))).toEqual(
      expect.arrayContaining(ofBob(before).filter((one) => !one.includes(':audit') && !one.includes('seq'))),
    );
    expect(await runAdmin(env, 'erase', EVE_ACCOUNT)).toMatchObject({ code: 1, data: { outcome: 'not-found' } });
  }, 120_000);

  test('of a person who is not signed in deletes the held question', async () => {
    const env = await start();
    await deployment.sender.direct('UNEW', 'a held question evecanary');
    await untilTrue(async () => (await deployment.redis.keys('*:held:*')).length === 1);
    await idle();
    expect(found(await readStored(deployment.redis, keyRing()), CANARY)).toContain('held');
    expect(await runAdmin(env, 'erase', 'slack:UNEW')).toMatchObject({
      code: 0,
      data: { counts: { heldQuestions: 1 } },
    });
    await deployment.stopBots();
    expect(await deployment.redis.keys('*:held:*')).toEqual([]);
    expect(found(await readStored(deployment.redis, keyRing()), /a held question/)).toEqual([]);
  }, 120_000);

  test('during an answer lets the answer end and keeps nothing of it', async () => {
    const env = await start();
    let finish: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (finish = resolve));
    deployment.chat.script(async (response, call) => {
      await waits;
      await countedStream('A late answer evecanary.', 9, 9)(response, call);
    });
    await deployment.sender.direct(EVE, 'a slow question evecanary');
    await untilTrue(() => deployment.chat.calls.length === 1);
    const erasing = runAdmin(env, 'erase', EVE_ACCOUNT);
    await untilTrue(async () => {
      const records = await deployment.redis.keys('*:message:*');
      return (await deployment.redis.hget(records[0] ?? '', 'deleted')) === '1';
    });
    finish();
    expect(await erasing).toMatchObject({ code: 0 });
    await deployment.untilShown(`D${EVE}`, ['A late answer evecanary.']);
    await deployment.stopBots();
    const rest = (await readStored(deployment.redis, keyRing())).filter(({ key }) => !key.startsWith('{id}:changed'));
    expect(found(rest, traces())).toEqual([]);
  }, 120_000);

  test('completes an erasure that was killed after the link was gone', async () => {
    const env = await start();
    await plant(EVE, EVE_ACCOUNT, 'evecanary');
    // The state that a kill leaves: the erasure is recorded, the link is erased, the rest is not.
    const erasure = { id: 'e1', account: EVE_ACCOUNT, startedMs: 1, counts: { links: 1 } };
    const { platform, tenant, app } = personOf('slack', EVE);
    const people = [{ platform, tenant, app, userId: EVE }];
    const sealed = keyRing().seal('erasure', 'e1', JSON.stringify({ ...erasure, people }));
    await deployment.redis.hset('{audit}:erasures', 'e1', sealed);
    await deployment.redis.del(identityKeys.link(eveId));
    await deployment.redis.del('{audit}:names', '{audit}:pseudonyms');
    const erased = await runAdmin(env, 'erase', EVE_ACCOUNT);
    expect(erased).toMatchObject({ code: 0, data: { id: 'e1', counts: { links: 1, turns: 7 } } });
    await deployment.stopBots();
    const rest = (await readStored(deployment.redis, keyRing())).filter(({ key }) => !key.startsWith('{id}:changed'));
    expect(found(rest, traces())).toEqual([]);
  }, 120_000);
});

describe('a legal hold [legal-hold]', () => {
  test('refuses the erasure, ends expiry, and keeps what the person deletes; its release undoes all', async () => {
    const env = await start();
    await say(EVE, 'a first question evecanary');
    const { history } = conversationKeys(privateChat(EVE));
    expect(await runAdmin(env, 'hold', EVE_ACCOUNT)).toMatchObject({ code: 0, data: { outcome: 'held', people: 1 } });
    expect(await deployment.redis.pttl(history)).toBe(-1);
    expect(await runAdmin(env, 'erase', EVE_ACCOUNT)).toMatchObject({ code: 1, data: { outcome: 'on-hold' } });
    await say(EVE, 'a second question evecanary');
    expect(await deployment.redis.pttl(history)).toBe(-1);
    expect(await deployment.redis.llen(history)).toBe(2);
    await say(EVE, '/forget');
    expect(deployment.textsIn(`D${EVE}`).at(-1)).toContain('must be kept');
    expect(await deployment.redis.llen(history)).toBe(2);
    await say(EVE, '/new');
    expect(await deployment.redis.exists(history)).toBe(0);
    expect(found(await readStored(deployment.redis, keyRing()), CANARY)).toContain('on-hold');
    await say(BOB, 'another person');
    expect(await deployment.redis.pttl(conversationKeys(privateChat(BOB)).history)).toBeGreaterThan(0);

    expect(await runAdmin(env, 'hold', EVE_ACCOUNT, { release: true })).toMatchObject({ code: 0 });
    expect(await deployment.redis.exists(holdsKey(privateChat(EVE).partition))).toBe(0);
    expect(await deployment.redis.keys('*:on-hold:*')).toEqual([]);
    expect(await runAdmin(env, 'hold', EVE_ACCOUNT, { release: true })).toMatchObject({ code: 1 });
    expect(await runAdmin(env, 'erase', EVE_ACCOUNT)).toMatchObject({ code: 0 });
  }, 120_000);
});
