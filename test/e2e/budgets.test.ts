import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { asDeliveryId } from '../../src/bot/domain/ids.ts';
import { BudgetStore } from '../../src/bot/turn/budgets/budget-store.ts';
import type { AppliedBudget, Budget } from '../../src/bot/policy/budget.ts';
import { countedStream } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { personOf, storeSignIn } from '../support/stored-sign-in.ts';
import { tries } from '../support/tries.ts';

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-budgets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function policy(budget: Budget | undefined, departments?: Record<string, Budget>): string {
  const path = join(folder, `policy-${Math.random()}.json`);
  const otherwise = { use: true, models: 'all', private: true, groups: 'all', ...(budget && { budget }) };
  writeFileSync(path, JSON.stringify({ rules: [], otherwise, ...(departments && { departments }) }));
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
    const warning = 'You have asked most of your 5 questions for today (“usage”).';
    expect(said.slice(0, 3)).toEqual(['Fine.|', 'Fine.|', 'Fine.|']);
    expect(said[3]).toBe(`Fine.|${warning}`);
    expect(said[4]).toBe('Fine.|');
    expect(said[5]).toContain('You have asked your 5 questions for today. You can ask again tomorrow.');
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
    expect(JSON.stringify(seen)).not.toMatch(/your 1 question|most of your/);
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

test('a department shares one budget over all its people [budgets]', async () => {
  deployment.chat.script(countedStream('Fine.', 900, 100));
  const signIn = {
    ...{ SIGN_IN: 'optional', SIGN_IN_URL: deployment.chat.baseUrl, SIGN_IN_CLIENT_ID: 'budgets' },
    ...{ SIGN_IN_CLIENT_SECRET: 'budgets-secret-0123456789', SIGN_IN_PROOF: 'same-id' },
  };
  await deployment.startBot({ ...signIn, POLICY_FILE: policy(undefined, { '31*': { questionsPerDay: 20 } }) });
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
      /^(?:Your department has asked its 20|What is left of the budget is reserved)/.test(text),
    ),
  ).toHaveLength(20);
  expect(await ask('UX', 'question')).toContain('Fine.');
}, 90_000);

test('a killed worker neither charges a question twice nor forgets it [budgets]', async () => {
  deployment.chat.script(countedStream('Fine.', 900, 100));
  const settings = { POLICY_FILE: policy({ questionsPerDay: 3, tokensPerDay: 100_000 }) };
  const receiver = { ...settings, ROLES: 'receiver' };
  await deployment.startProcess(receiver);
  // It dies after the question was charged and before the turn is committed.
  const dying = await deployment.startProcess({
    ...settings,
    ...{ ROLES: 'worker', NODE_ENV: 'test', PARLEY_FAIL_POINT: 'redis.commit:before:exit' },
  });
  await deployment.sender.direct('U1', 'one');
  await dying.ended;
  await deployment.startProcess({ ...settings, ROLES: 'worker' });
  await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0, 40_000);
  expect(await ask('U1', 'usage')).toContain('Left today: 2 of 3 questions.');
}, 120_000);

describe('reservations and charges in any order [budgets]', () => {
  test('add up to the real use of each turn, and never grant more than the limit', async () => {
    const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
    const turns = ['a1', 'b2', 'c3', 'd4', 'e5'].map(asDeliveryId);
    const step = fc.record({
      turnId: fc.constantFrom(...turns),
      kind: fc.constantFrom('reserve', 'charge', 'give back' as const),
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
        const budget: AppliedBudget = { of: 'person', limits: { questionsPerDay: 3, tokensPerDay: 1e9 } };
        const [reserved, charged] = [new Set<string>(), new Map<string, number>()];
        for (const { turnId, kind, tokens } of steps) {
          const place = { subject: `s${subject}`, turnId };
          if (kind === 'reserve') {
            const { usedUp } = await store.reserve(budget, { ...place, use: { questions: 1, tokens } });
            const isKnown = reserved.has(turnId) || charged.has(turnId);
            expect(usedUp === undefined).toBe(isKnown || reserved.size + charged.size < 3);
            if (usedUp === undefined && !charged.has(turnId)) reserved.add(turnId);
          } else if (reserved.has(turnId) || charged.has(turnId)) {
            const use = kind === 'charge' ? { questions: 1, tokens } : { questions: 0, tokens: 0 };
            await store.charge(budget, { ...place, use });
            reserved.delete(turnId);
            if (kind === 'charge') charged.set(turnId, Math.max(charged.get(turnId) ?? 0, tokens));
          }
        }
        const used = [...charged.values()].reduce((sum, tokens) => sum + tokens, 0);
        const left = await store.left(budget, `s${subject}`);
        expect(left).toEqual({
          questionsPerDay: 3 - charged.size,
          tokensPerDay: 1e9 - used,
          tokensPerMonth: undefined,
        });
      }),
      { numRuns: tries(200) },
    );
  });
});
