import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { asDeliveryId } from '../../src/bot/domain/ids.ts';
import { BudgetStore } from '../../src/bot/turn/budgets/budget-store.ts';
import type { Budget, SharedBudgets } from '../../src/bot/policy/budget.ts';
import { settleBudgets } from '../../src/bot/queue/settle-budgets.ts';
import { countedStream } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runAdmin } from '../support/run-admin.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import { personOf, storeSignIn } from '../support/stored-sign-in.ts';
import { noisePicture } from '../support/noise-picture.ts';
import { tries } from '../support/tries.ts';

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-budgets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function policy(budget: Budget | undefined, shared: SharedBudgets = {}): string {
  const path = join(folder, `policy-${Math.random()}.json`);
  const otherwise = { use: true, models: 'all', private: true, groups: 'all', ...(budget && { budget }) };
  writeFileSync(path, JSON.stringify({ rules: [], otherwise, ...shared }));
  return path;
}

/** Asks privately in Slack, and returns the answer with what stands beside it. */
async function ask(person: string, text: string): Promise<string> {
  const before = deployment.slack.messages.length;
  await deployment.sender.direct(person, text);
  await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);
  return deployment.slack.messages
    .slice(before)
    .map(({ text: said, note }) => `${said}|${note}`)
    .join('\n');
}

describe('the budget of a person [budgets]', () => {
  test('counts questions of a day, warns once near its end, and refuses with a sentence', async () => {
    deployment.chat.script(countedStream('Fine.', 900, 100));
    await deployment.startBot({ POLICY_FILE: policy({ questionsPerDay: 5 }) });
    const said = [];
    for (let count = 0; count < 6; count += 1) said.push(await ask('U1', `question ${count}`));
    const warning = 'You have used most of your budget for today: 5 questions (“usage”).';
    expect(said.slice(0, 3)).toEqual(['Fine.|', 'Fine.|', 'Fine.|']);
    expect(said[3]).toBe(`Fine.|${warning}`);
    expect(said[4]).toBe('Fine.|');
    expect(said[5]).toContain('You have used up your budget for today (5 questions). You can ask again tomorrow.');
    expect(deployment.chat.calls).toHaveLength(5);
    expect(await ask('U1', 'usage')).toContain('Left today: 0 of 5 questions.');
    // Another person has a budget of their own.
    expect(await ask('U2', 'question')).toContain('Fine.');
  });

  test('counts the tokens that the service reports, of a day and of a month', async () => {
    deployment.chat.script(countedStream('Fine.', 6_000, 1_000));
    await deployment.startBot({ POLICY_FILE: policy({ tokensPerDay: 10_000, tokensPerMonth: 1_000_000 }) });
    expect(await ask('U1', 'one')).toContain('Fine.');
    expect(await ask('U1', 'two')).toContain('Fine.');
    expect(await ask('U1', 'three')).toContain('You have used up your budget for today (10000 tokens).');
    const usage = await ask('U1', 'usage');
    expect(usage).toContain('Left today: 0 of 10000 tokens.');
    expect(usage).toContain('Left this month: 986000 of 1000000 tokens.');
  });

  test('is told to nobody else in a group', async () => {
    deployment.chat.script(countedStream('Fine.', 900, 100));
    const here = bothPlatforms(deployment);
    await deployment.startBot({ ...here.env, POLICY_FILE: policy({ questionsPerDay: 1 }) });
    const inGroup = (text: string) => here.sayAll('wecom', [{ person: 'ann', text, group: 'C1' }]);
    expect((await inGroup('one'))[0]?.snapshots.at(-1)).toBe('Fine.');
    const [seen] = await inGroup('two');
    expect(JSON.stringify(seen)).toContain('a budget is used up. Ask me in a private chat');
    expect(JSON.stringify(seen)).not.toMatch(/1 question|most of your/);
  });

  test('50 questions at once exceed it by one answer at most', async () => {
    deployment.chat.script(countedStream('Fine.', 900, 100));
    const limits = { LIMIT_PERSON_PER_MINUTE: '1000', POLICY_FILE: policy({ questionsPerDay: 7 }) };
    await deployment.startBot(limits);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        deployment.sender.mention({ channel: `C${index}`, userId: 'U1' }, 'now'),
      ),
    );
    await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0, 60_000);
    expect(deployment.chat.calls).toHaveLength(7);
  }, 90_000);
});

test('images have a budget of their own, and months one beside the days [budgets]', async () => {
  deployment.chat.script(countedStream('Fine.', 900, 100));
  const picture = await noisePicture(60, 40).png().toBuffer();
  const here = bothPlatforms(deployment);
  const models = { CHAT_MODELS: 'svc-max,svc-plus', CHAT_MODEL: 'svc-max' };
  await deployment.startBot({ ...here.env, ...models, POLICY_FILE: policy({ imagesPerDay: 1, questionsPerMonth: 3 }) });
  const withImage = async () => {
    const [seen] = await here.sayAll('slack', [{ person: 'U1', text: 'what is this?', picture }]);
    return seen?.snapshots.at(-1);
  };
  expect(await withImage()).toBe('Fine.');
  expect(await withImage()).toBe('You have used up your budget for today (1 image). You can ask again tomorrow.');
  expect(await ask('U1', 'without an image')).toContain('Fine.');
  expect(await ask('U1', '还有问题')).toContain('你本月的额度（3 次提问）已用掉大部分');
  expect(await ask('U1', '还有吗')).toContain('你本月的额度（3 次提问）已用完，下个月可以继续提问。');
  const usage = await ask('U1', 'usage');
  expect(usage).toContain('今天剩余 0（共 1 张图片）。');
  expect(usage).toContain('本月剩余 0（共 3 次提问）。');
});

test('a group and a model have budgets of their own [budgets]', async () => {
  deployment.chat.script(countedStream('Fine.', 900, 100));
  const shared = { groups: { C1: { questionsPerDay: 2 }, '*': { questionsPerDay: 1 } } };
  const models = { 'model-a': { questionsPerDay: 4 } };
  const env = { CHAT_MODELS: 'model-a,model-b', POLICY_FILE: policy(undefined, { ...shared, models }) };
  await deployment.startBot(env);
  const inGroup = async (channel: string, userId: string) => {
    const before = deployment.slack.messages.length;
    await deployment.sender.mention({ channel, userId }, 'now');
    await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);
    return deployment.slack.messages.slice(before).map(({ text }) => text);
  };
  expect(await inGroup('C1', 'U1')).toEqual(['Fine.']);
  expect(await inGroup('C1', 'U2')).toEqual(['Fine.']);
  const usedUp = 'This group has used up its budget for today (2 questions). You can ask again tomorrow.';
  expect(await inGroup('C1', 'U3')).toEqual([usedUp]);
  // Each group that is not listed has its own.
  expect([await inGroup('C2', 'U1'), await inGroup('C3', 'U1')]).toEqual([['Fine.'], ['Fine.']]);
  expect(await ask('U4', 'question')).toContain('The budget of the model model-a for today (4 questions) is used up.');
  expect(await ask('U4', 'usage')).toContain('Left for the model model-a today: 0 of 4 questions.');
  const topUp = ['budget', 'top-up', '--model', 'model-a', '--limit', 'questionsPerDay', '--add', '1', '--json'];
  const command = ['node', 'dist/main.js', 'admin', ...topUp];
  const run = await startParleyProcess({ env: { ...deployment.env, ...env }, command });
  expect(await run.ended).toBe(0);
  expect(run.output()).toContain('"added":1,"addedInAll":1');
  expect(await ask('U4', 'question')).toContain('Fine.');
  expect(await ask('U4', 'usage')).toContain('Left for the model model-a today: 0 of 5 questions.');
  const shown = await runAdmin({ ...deployment.env, ...env }, 'budget', 'show', { model: 'model-a', json: false });
  expect(shown.text).toContain('questionsPerDay: used 5, added 1, limit 4\n');
  for (const given of [{}, { person: 'ann', model: 'model-a' }] as Record<string, string>[])
    expect(await runAdmin(deployment.env, 'budget', 'show', given)).toMatchObject({ code: 2, asides: '' });
  expect(await runAdmin(deployment.env, 'budget', 'top-up', { model: 'model-a' })).toMatchObject({ code: 2 });
  await ask('U4', 'model model-b');
  expect(await ask('U4', 'question')).toContain('Fine.');
});

test('tokens and costs are counted by model, and people do not see costs [budgets]', async () => {
  deployment.chat.script(countedStream('Fine.', 900, 100));
  const models = join(folder, 'models.json');
  writeFileSync(models, JSON.stringify([{ name: 'model-a', price: { prompt: 2, completion: 10, currency: 'CNY' } }]));
  await deployment.startBot({ CHAT_MODELS: 'model-a,model-b', MODELS_FILE: models });
  await ask('U1', 'question');
  await ask('U1', 'model model-b');
  await ask('U1', 'question');
  const metrics = await (await fetch(`${deployment.botUrl}/metrics`)).text();
  expect(metrics).toContain('parley_chat_tokens_total{model="model-a",kind="prompt"} 900');
  expect(metrics).toContain('parley_chat_tokens_total{model="model-b",kind="completion"} 100');
  expect(metrics).toMatch(/parley_model_cost_total\{model="model-a",currency="CNY"\} 0.0028\n/);
  expect(metrics).not.toContain('parley_model_cost_total{model="model-b"');
  const [key = ''] = await deployment.redis.keys('*:usage:*');
  const costs = Object.entries(await deployment.redis.hgetall(key)).filter(([field]) => field.includes(':cost-'));
  expect(costs).toEqual([[expect.stringMatching(/:cost-CNY$/), '2800']]);
  expect(await ask('U1', 'usage')).not.toMatch(/CNY|2800/);
  const usage = async (given: Record<string, string | boolean>) =>
    runAdmin(deployment.env, 'usage', '', { by: 'model', ...given });
  expect((await usage({})).data).toEqual([
    { model: 'model-a', questions: 1, tokens: 1_000, costs: { CNY: 0.0028 } },
    { model: 'model-b', questions: 1, tokens: 1_000 },
  ]);
  expect((await usage({ json: false })).text).toBe(
    'model-a  questions: 1, tokens: 1000, costs: 0.0028 CNY\nmodel-b  questions: 1, tokens: 1000\n',
  );
  expect((await usage({ json: false, csv: true })).text).toBe(
    '\uFEFFmodel,questions,tokens,cost CNY\r\nmodel-a,1,1000,0.0028\r\nmodel-b,1,1000,0\r\n',
  );
});

test('a top-up adds to a limit at once [budgets]', async () => {
  const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
  const store = new BudgetStore({ redis: deployment.redis, keyRing, nowMs: Date.now, timeZone: 'UTC' });
  const owner = { of: 'person', code: 'ann' } as const;
  const reserve = (turn: string) => {
    const turnId = asDeliveryId(turn);
    const places = [store.placeOf(owner, { questionsPerDay: 1 }, turnId)];
    return store.reserve(places, turnId, { questions: 1, tokens: 10, images: 0 });
  };
  expect(await reserve('a1')).toMatchObject({ kind: 'reserved' });
  expect(await reserve('b2')).toMatchObject({ kind: 'used-up', isInProgress: true });
  expect(await store.topUp(owner, 'questionsPerDay', 4)).toBe(4);
  expect(await reserve('b2')).toMatchObject({ kind: 'reserved', near: [] });
  const { total } = await store.left({ ...owner, limits: { questionsPerDay: 1 } });
  expect(total).toEqual({ questionsPerDay: 5 });
});

test('a department shares one budget over all its people [budgets]', async () => {
  deployment.chat.script(countedStream('Fine.', 900, 100));
  const signIn = {
    ...{ SIGN_IN: 'optional', SIGN_IN_URL: deployment.chat.baseUrl, SIGN_IN_CLIENT_ID: 'budgets' },
    ...{ SIGN_IN_CLIENT_SECRET: 'budgets-secret-0123456789', SIGN_IN_PROOF: 'same-id' },
  };
  await deployment.startBot({
    ...signIn,
    POLICY_FILE: policy(undefined, { departments: { '31*': { questionsPerDay: 20 } } }),
  });
  const people = Array.from({ length: 40 }, (_, index) => `U${index}`);
  for (const [index, person] of people.entries()) {
    const account = { accountKey: `k${index}`, id: `a${index}`, department: index % 2 === 0 ? '3100' : '3177' };
    await storeSignIn(deployment, personOf('slack', person), account);
  }
  await storeSignIn(deployment, personOf('slack', 'UX'), { accountKey: 'kx', id: 'ax', department: '3200' });
  await Promise.all(people.map((person) => deployment.sender.direct(person, 'now')));
  await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0, 60_000);
  expect(deployment.chat.calls).toHaveLength(20);
  expect(
    deployment.slack.messages.filter(({ text }) =>
      /^(?:Your department has used up its budget for today \(20 questions\)|What is left of the budget is reserved)/.test(
        text,
      ),
    ),
  ).toHaveLength(20);
  expect(await ask('UX', 'question')).toContain('Fine.');
}, 90_000);

test.each([
  ['before its commit, with the answer stored', 'redis.commit:before:exit'],
  ['with a reservation', 'redis.reserve-budgets:after:exit'],
])(
  'a worker killed %s neither charges a question twice nor forgets it [budgets]',
  async (_when, failPoint) => {
    deployment.chat.script(countedStream('Fine.', 900, 100));
    const settings = { POLICY_FILE: policy({ questionsPerDay: 3, tokensPerDay: 100_000 }) };
    const receiver = { ...settings, ROLES: 'receiver' };
    await deployment.startProcess(receiver);
    const dying = await deployment.startProcess({
      ...settings,
      ...{ ROLES: 'worker', NODE_ENV: 'test', PARLEY_FAIL_POINT: failPoint },
    });
    await deployment.sender.direct('U1', 'one');
    await dying.ended;
    await deployment.startProcess({ ...settings, ROLES: 'worker' });
    await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0, 40_000);
    expect(await ask('U1', 'usage')).toContain('Left today: 2 of 3 questions.');
  },
  120_000,
);

describe('reservations and charges in any order [budgets]', () => {
  test('500 at once grant exactly the limit, and a refused one leaves nothing behind in its other budgets', async () => {
    const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
    const store = new BudgetStore({ redis: deployment.redis, keyRing, nowMs: Date.now, timeZone: 'UTC' });
    const shared = { of: 'department', code: '31*' } as const;
    const use = { questions: 1, tokens: 100, images: 0 };
    const reserved = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const turnId = asDeliveryId(index.toString(16).padStart(8, '0'));
        const own = store.placeOf({ of: 'person', code: 'ann' }, { questionsPerDay: 400 }, turnId);
        const places = [own, store.placeOf(shared, { questionsPerDay: 100 }, turnId)];
        const { kind } = await store.reserve(places, turnId, use);
        if (kind === 'reserved')
          await settleBudgets(
            deployment.redis,
            turnId,
            places.map((one) => store.chargeOf(one, use)),
          );
        return kind;
      }),
    );
    expect(reserved.filter((kind) => kind === 'reserved')).toHaveLength(100);
    const { left } = await store.left({ of: 'person', code: 'ann', limits: { questionsPerDay: 400 } });
    expect(left).toEqual({ questionsPerDay: 300 });
    const turnId = asDeliveryId('ffff');
    const own = store.placeOf({ of: 'person', code: 'ann' }, { questionsPerDay: 400 }, turnId);
    expect(await deployment.redis.hlen(own.reserved)).toBe(0);
  });

  test('forget a question that never ended after an hour', async () => {
    const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
    const store = new BudgetStore({ redis: deployment.redis, keyRing, nowMs: Date.now, timeZone: 'UTC' });
    const [lost, next] = [asDeliveryId('a1'), asDeliveryId('b2')];
    const placeOf = (turnId: typeof lost) =>
      store.placeOf({ of: 'person', code: 'lost' }, { questionsPerDay: 1 }, turnId);
    const reserve = (turnId: typeof lost) =>
      store.reserve([placeOf(turnId)], turnId, { questions: 1, tokens: 1, images: 0 });
    expect((await reserve(lost)).kind).toBe('reserved');
    expect(await reserve(next)).toMatchObject({ kind: 'used-up', isInProgress: true });
    const { reserved, used } = placeOf(lost);
    const age = async (key: string, field: string, atMs: RegExp) => {
      const kept = (await deployment.redis.hget(key, field)) ?? '';
      await deployment.redis.hset(
        key,
        field,
        kept.replace(atMs, (ms) => String(Number(ms) - 3_600_001)),
      );
    };
    await age(reserved, lost, /^\d+/);
    await age(used, 'r', /(?<=^1:)\d+/);
    expect((await reserve(next)).kind).toBe('reserved');
    expect(await deployment.redis.hkeys(reserved)).toEqual([next]);
  });

  test('take no longer beside many questions in progress', async () => {
    const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
    const store = new BudgetStore({ redis: deployment.redis, keyRing, nowMs: Date.now, timeZone: 'UTC' });
    const reserve = async (index: number) => {
      const turnId = asDeliveryId(index.toString(16).padStart(8, '0'));
      const place = store.placeOf({ of: 'model', code: 'busy' }, { tokensPerDay: 1e9 }, turnId);
      return store.reserve([place], turnId, { questions: 1, tokens: 1, images: 0 });
    };
    const readsOfAll = async () => /cmdstat_hgetall:calls=(\d+)/.exec(await deployment.redis.info('commandstats'))?.[1];
    await reserve(0);
    const before = await readsOfAll();
    for (let index = 1; index < 50; index += 1) expect((await reserve(index)).kind).toBe('reserved');
    expect(await readsOfAll()).toBe(before);
  });

  test('add up to the real use of each turn, and never grant more than the limit', async () => {
    const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
    const turns = ['a1', 'b2', 'c3', 'd4', 'e5'].map(asDeliveryId);
    const step = fc.record({
      turnId: fc.constantFrom(...turns),
      // 'by an earlier build': it keeps no sums.
      kind: fc.constantFrom(
        'reserve',
        'reserve by an earlier build',
        'give back by it',
        'charge',
        'give back' as const,
      ),
      tokens: fc.integer({ min: 1, max: 900 }),
    });
    let subject = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        subject += 1;
        const store = new BudgetStore({
          redis: deployment.redis,
          keyRing,
          nowMs: () => 1_700_000_000_000,
          timeZone: 'UTC',
        });
        const owner = { of: 'person', code: `s${subject}` } as const;
        const limits = { questionsPerDay: 3, tokensPerDay: 1e9 };
        const [reserved, charged] = [new Set<string>(), new Map<string, number>()];
        for (const { turnId, kind, tokens } of steps) {
          const place = store.placeOf(owner, limits, turnId);
          if (kind === 'reserve by an earlier build') {
            if (reserved.has(turnId) || charged.has(turnId) || reserved.size + charged.size >= 3) continue;
            await deployment.redis.hset(place.reserved, turnId, `${Date.now()}:14:1:${tokens}:0`);
            reserved.add(turnId);
          } else if (kind === 'give back by it') {
            await deployment.redis.hdel(place.reserved, turnId);
            reserved.delete(turnId);
          } else if (kind === 'reserve') {
            const { kind: verdict } = await store.reserve([place], turnId, { questions: 1, tokens, images: 0 });
            const isKnown = reserved.has(turnId) || charged.has(turnId);
            expect(verdict === 'reserved').toBe(isKnown || reserved.size + charged.size < 3);
            if (verdict === 'reserved' && !charged.has(turnId)) reserved.add(turnId);
          } else if (reserved.has(turnId) || charged.has(turnId)) {
            const isCharged = kind === 'charge';
            const use = { questions: isCharged ? 1 : 0, tokens: isCharged ? tokens : 0, images: 0 };
            await settleBudgets(deployment.redis, turnId, [store.chargeOf(place, use)]);
            reserved.delete(turnId);
            if (kind === 'charge') charged.set(turnId, Math.max(charged.get(turnId) ?? 0, tokens));
          }
        }
        const used = [...charged.values()].reduce((sum, tokens) => sum + tokens, 0);
        for (const turnId of reserved) {
          const nothing = { questions: 0, tokens: 0, images: 0 };
          const place = store.placeOf(owner, limits, asDeliveryId(turnId));
          await settleBudgets(deployment.redis, asDeliveryId(turnId), [store.chargeOf(place, nothing)]);
        }
        // Nothing is in progress, so the next reservation is the only one.
        const last = store.placeOf(owner, limits, asDeliveryId('f6'));
        const { kind } = await store.reserve([last], asDeliveryId('f6'), { questions: 1, tokens: 7, images: 0 });
        expect(kind).toBe(charged.size < 3 ? 'reserved' : 'used-up');
        if (kind === 'reserved') expect(await deployment.redis.hget(last.used, 'r')).toMatch(/^1:\d+:14:1:7:0:1:7:0$/);
        const { left } = await store.left({ ...owner, limits });
        expect(left).toEqual({ questionsPerDay: 3 - charged.size, tokensPerDay: 1e9 - used });
      }),
      { numRuns: tries(200) },
    );
  });
});
