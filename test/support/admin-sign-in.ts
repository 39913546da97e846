import type { Answer, TestBrowser } from '../bot/identity/test-browser.ts';
import { TYPED_LOGINS, type TypedLogin } from './admin-people.ts';
import { personOf, storeSignIn } from './stored-sign-in.ts';
import type { Deployment } from './deployment.ts';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import {
  conversationKeys,
  deadLetterKeyPrefix,
  deadLettersKey,
  usageKey,
} from '../../src/bot/domain/partition-keys.ts';
import { asConversationId, asDeliveryId, asPersonId, type PersonId } from '../../src/bot/domain/ids.ts';
import { RECEIVERS_KEY, WORKER_RECORD_PREFIX, WORKERS_KEY } from '../../src/bot/queue/process-list.ts';
import { sealTurn } from '../../src/bot/turn/conversation/history.ts';
import { unansweredChange } from '../../src/bot/turn/conversation/unanswered-store.ts';
import { beginPause } from '../../src/bot/turn/pauses/pause-store.ts';

const ENTITIES: [string, string][] = [
  ['&amp;', '&'],
  ['&quot;', '"'],
  ['&#39;', "'"],
];
const plain = (text: string) => ENTITIES.reduce((left, [entity, mark]) => left.replaceAll(entity, mark), text);
const attributeOf = (tag: string, name: string) => plain(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** Fills in and sends the first form of a page, as a person does who agrees to everything. */
async function fillIn(browser: TestBrowser, page: Answer, { username, password }: TypedLogin): Promise<Answer> {
  const form = /<form\b[^>]*method="?post"?[^>]*>[\s\S]*?<\/form>/i.exec(page.text)?.[0];
  if (form === undefined) throw new Error(`No form on the page (status ${page.status})`);
  const typed: Record<string, string> = { username, password };
  const fields = [...form.matchAll(/<input\b[^>]*>/g)].map(([tag]): [string, string] => {
    const name = attributeOf(tag, 'name');
    return [name, typed[name] ?? attributeOf(tag, 'value')];
  });
  const [button = ''] = /<button\b[^>]*name=[^>]*>/.exec(form) ?? [];
  if (button !== '') fields.push([attributeOf(button, 'name'), attributeOf(button, 'value')]);
  const url = new URL(attributeOf(form, 'action'), page.url);
  const headers = { origin: url.origin, 'sec-fetch-site': 'same-origin' };
  return browser.send('POST', url.href, { form: Object.fromEntries(fields), headers });
}

/** Where a page leads by itself. */
export const refreshOf = ({ text }: Answer) =>
  plain(/http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1] ?? '');

/** Presses the button of the sign-in page. @returns the address of the sign-in service */
export const leaveAdmin = async (browser: TestBrowser, page: Answer) => refreshOf(await browser.submit(page));

/**
 * Signs in at `/admin` of this origin, through the real service.
 * @returns the page that the callback answers with; the browser holds the cookies
 */
export async function signInAtAdmin(
  browser: TestBrowser,
  origin: string,
  person: keyof typeof TYPED_LOGINS,
  until?: RegExp,
): Promise<Answer> {
  const location = await leaveAdmin(browser, await browser.get(`${origin}/admin`));
  let page = await browser.follow(await browser.get(location), until);
  for (let step = 0; step < 4 && page.status === 200 && !page.url.includes('/oauth/callback'); step += 1)
    page = await browser.follow(await fillIn(browser, page, TYPED_LOGINS[person]), until);
  return page;
}

/** A policy file with a budget of each kind. */
export const ADMIN_POLICY = {
  rules: [],
  otherwise: { use: true, models: 'all', private: true, groups: 'all' },
  departments: { '31*': { tokensPerDay: 2_000 } },
  groups: { '*': { tokensPerDay: 3_000 } },
  models: { 'svc-plus': { tokensPerDay: 1_000 } },
};

const LETTER = 'ab'.repeat(20);

/** Stores what the pages show: a dead letter of the first waiting question, usage, unanswered questions, a pause, a link and workers. @returns the id of the letter */
export async function storeAdminData(deployment: Deployment): Promise<string> {
  const { redis } = deployment;
  const id = asDeliveryId(LETTER);
  const inbox = (await redis.keys('{p*}:inbox:*'))[0];
  if (inbox !== undefined) {
    const [, partition = '0', conversation = ''] = /^\{p(\d+)\}:inbox:(.*)$/.exec(inbox) ?? [];
    const entry = (await redis.lindex(inbox, 0)) ?? '';
    const record = await redis.hgetall(`{p${partition}}:message:${entry.slice(0, 40)}`);
    const key = deadLetterKeyPrefix(Number(partition)) + id;
    const owner = record['owner'] ?? '';
    await redis.hset(key, { 'entry:1': entry, atMs: Date.now(), why: 'crashed', conversation, owner });
    await redis.zadd(deadLettersKey(Number(partition)), Date.now(), id);
  }
  const person = asPersonId('c0ffee'.padEnd(32, '0'));
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  for (const [index, [model, department]] of Object.entries([
    ['svc-plus', '3100'],
    ['svc-max', '2203'],
    ['svc-plus', '2107'],
  ] as const))
    for (let daysAgo = Number(index); daysAgo < 24; daysAgo += 1 + Number(index)) {
      const [month, date] = [day(daysAgo).slice(0, 7), day(daysAgo).slice(8)];
      const field = `${date}:${model}:${department}`;
      const count = ((daysAgo * 7) % 11) + 2;
      const counts = { [`${field}:questions`]: count, [`${field}:tokens`]: count * 1_313 };
      const costs = model === 'svc-plus' ? { [`${field}:cost-CNY`]: count * 7_011 } : {};
      await redis.hset(usageKey(Number(index), person, month), { ...counts, ...costs });
    }
  await storeUnanswered(deployment, person);
  await storeWorkers(deployment);
  await beginPause(redis, { target: 'group:wrtown', message: 'Back at 14:00.', sinceMs: Date.now() });
  await storeSignIn(deployment, personOf('wecom', 'emma.clarke'), {
    accountKey: 'k'.repeat(40),
    id: '20190012',
    name: 'Emma Clarke',
  });
  return id;
}

/** A stopping process with both roles, a worker of an earlier version, and one that does not respond. */
async function storeWorkers({ redis }: Deployment): Promise<void> {
  const startedAtMs = Date.now() - 3_720_000;
  const about = { instance: 'web-2-aaaaaa', version: '9.9.9', host: 'web-2', pid: 4711, startedAtMs };
  const workload = { runningTurns: 2, maxTurns: 40, isDraining: true };
  // A registration in the future does not age during the test.
  const soon = Date.now() + 3_600_000;
  await redis.zadd(WORKERS_KEY, soon, 'aaaaaa-0', soon, 'bbbbbb-0', Date.now() - 60_000, 'cccccc-0');
  await redis.set(`${WORKER_RECORD_PREFIX}aaaaaa-0`, JSON.stringify({ ...about, ...workload, addedLater: {} }));
  await redis.set(`${WORKER_RECORD_PREFIX}cccccc-0`, 'not JSON');
  await redis.zadd(RECEIVERS_KEY, soon, JSON.stringify(about));
}

async function storeUnanswered({ redis, env }: Deployment, person: PersonId): Promise<void> {
  const keyRing = new KeyRing([Buffer.from(env['SECRET_KEY'] ?? '', 'base64')]);
  const conversation = { id: asConversationId('d'.repeat(32)), partition: 0 };
  const questions = ['Where may I park my bicycle?', '自行车可以停在哪里？', 'Who repairs a bicycle on Sundays?'];
  for (const [index, userText] of questions.entries()) {
    const turnId = asDeliveryId(String(index).padStart(40, '0'));
    const atMs = Date.now();
    const turn = { version: 1, turnId, atMs, userText, assistantText: '-', images: 0 } as const;
    await redis.rpush(conversationKeys(conversation).history, sealTurn(keyRing, conversation.id, turn));
    const { key, entry } = unansweredChange({ turnId, conversation }, person, 'no-source');
    await redis.zadd(key, atMs, entry);
  }
}
