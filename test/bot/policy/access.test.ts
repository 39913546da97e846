import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyFile } from '../../../src/bot/policy/policy-file.ts';
import type { ServicePerson } from '../../../src/service/directory-file.ts';
import { IMAGE_TEXTS } from '../../../src/bot/i18n/image-texts.ts';
import { TURN_TEXTS } from '../../../src/bot/i18n/turn-texts.ts';
import { startDeployment, untilTrue, type Deployment } from '../../support/deployment.ts';

const HELP = 'help@example.org';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const GUEST: ServicePerson = {
  username: 'guest',
  password: 'plain:guest-of-the-town',
  profile: {
    id: '90000001',
    active: true,
    parentIdentityInfo: { name: '其他', code: 'QT' },
    attributes: { BMBM: '9000', BMMC: 'Guests', XGH: '90000001', XM: 'Gast', objectId: 'o-guest' },
  },
  messaging: { wecom: 'guest' },
};
const PEOPLE = ['zhangwei', 'chenguodong', 'emma.clarke', 'linxiaoyu', 'daniel.okoye', 'guest'] as const;
type Person = (typeof PEOPLE)[number];

/** Each kind of condition and permission once, for the identities and departments in examples/people.json. */
const POLICY: PolicyFile = {
  rules: [
    {
      name: 'the IT office',
      who: { departments: ['31*'] },
      may: { use: true, models: ['svc-max', 'svc-plus'], private: true, groups: 'all' },
    },
    {
      name: 'staff of computer science',
      who: { identity: ['JG'], departments: ['2203', '2204'] },
      may: { use: true, models: ['svc-max'], private: true, groups: ['wrtown'] },
    },
    { name: 'architecture', who: { departments: ['2107'], identity: ['JG'] }, may: { use: false } },
    {
      name: 'students',
      who: { identity: ['XS'], departments: ['22*'] },
      may: { use: true, models: 'all', private: false, groups: ['wrtown'] },
    },
    {
      name: 'visitors',
      who: { identity: ['QT'], signedIn: true },
      may: { use: true, models: ['svc-plus'], private: true, groups: 'none' },
    },
  ],
  otherwise: { use: false },
};

type Seen = 'svc-plus' | 'svc-max' | 'notHere' | 'groupsOnly' | 'mayNotUseHelp';
type Chat = 'private' | 'wrtown' | 'wrother';

const EXPECTED: Record<Person, Record<Chat, Seen>> = {
  // JG, 3100; JG, 2203; JG, 2107; XS, 2203; XS, 2107; QT, 9000
  zhangwei: { private: 'svc-plus', wrtown: 'svc-plus', wrother: 'svc-plus' },
  chenguodong: { private: 'svc-max', wrtown: 'svc-max', wrother: 'notHere' },
  'emma.clarke': { private: 'mayNotUseHelp', wrtown: 'notHere', wrother: 'notHere' },
  linxiaoyu: { private: 'groupsOnly', wrtown: 'svc-plus', wrother: 'notHere' },
  'daniel.okoye': { private: 'mayNotUseHelp', wrtown: 'notHere', wrother: 'notHere' },
  guest: { private: 'svc-plus', wrtown: 'notHere', wrother: 'notHere' },
};

let deployment: Deployment;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-policy-'));
  deployment = await startDeployment({
    env: { POLICY_FILE: policyFile(POLICY), SIGN_IN_HELP_URL: `mailto:${HELP}` },
    tokensPerSec: 5_000,
    morePeople: [GUEST],
    messenger: {
      groups: ['wrtown', 'wrother'].map((id) => ({ id, name: id, members: [...PEOPLE] })),
    },
  });
}, 60_000);
afterAll(async () => {
  await deployment.stop();
  rmSync(folder, { recursive: true });
});

let files = 0;
function policyFile(policy: object): string {
  const path = join(folder, `policy-${(files += 1)}.json`);
  writeFileSync(path, JSON.stringify(policy));
  return path;
}

const driver = () => deployment.messenger.driver;

async function ask(person: Person, text: string, chat: Chat = 'private', images: Buffer[] = []): Promise<string> {
  const isGroup = chat !== 'private';
  const said = { text, images, ...(isGroup ? { conversation: { group: chat }, mention: true } : {}) };
  const message = await driver().send(person, said);
  return (await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text;
}

/** Asks a question. @returns the model that answered, or the name of the refusal */
async function see(person: Person, chat: Chat, language: 'en' | 'zh' = 'en'): Promise<string> {
  const calls = () => deployment.lines.filter((line) => line.includes('chat call ended'));
  const before = calls().length;
  const answer = await ask(person, language === 'en' ? 'count to 3' : 'count to 3 数到三', chat);
  const refusal = (['notHere', 'groupsOnly', 'mayNotUseHelp'] as const).find(
    (name) => answer === TURN_TEXTS[name][language].replace('{help}', HELP),
  );
  if (refusal !== undefined) {
    expect(calls()).toHaveLength(before);
    return refusal;
  }
  await untilTrue(() => calls().length > before);
  return (JSON.parse(calls().at(-1) ?? '{}') as { model: string }).model;
}

async function signInBy(person: Person, text: string): Promise<string> {
  const message = await driver().send(person, text);
  await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
  await deployment.signIn(person, (await driver().answer(message.id))?.text ?? '');
  return (await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text;
}

async function restart(env: Record<string, string>): Promise<void> {
  await deployment.stopBot();
  await deployment.startBot(env);
  await untilTrue(() => driver().isBotReachable());
}

test('a question held for sign-in is judged when it runs, as the person who signed in', async () => {
  const answers = Object.fromEntries(
    await Promise.all(PEOPLE.map(async (person) => [person, await signInBy(person, 'count to 2')] as const)),
  );
  expect(answers['zhangwei']?.trim()).toBe('1 2');
  expect(answers['guest']?.trim()).toBe('1 2');
  expect(answers['emma.clarke']).toBe(TURN_TEXTS.mayNotUseHelp.en.replace('{help}', HELP));
  expect(answers['linxiaoyu']).toBe(TURN_TEXTS.groupsOnly.en);
}, 60_000);

describe('access by identity and department', () => {
  for (const person of PEOPLE) {
    test.each(['private', 'wrtown', 'wrother'] as const)(`${person}, %s`, async (chat) => {
      expect(await see(person, chat)).toBe(EXPECTED[person][chat]);
    });
  }

  test('is refused in the language of the question', async () => {
    expect(await see('emma.clarke', 'private', 'zh')).toBe('mayNotUseHelp');
    expect(await see('linxiaoyu', 'private', 'zh')).toBe('groupsOnly');
    expect(await see('guest', 'wrtown', 'zh')).toBe('notHere');
  });

  test('to images requires the model that can see, and is refused with a notice otherwise', async () => {
    expect(await ask('zhangwei', 'What is this?', 'private', [PNG])).toMatch(/1\s*×\s*1|1x1|1 by 1/);
    expect(await ask('chenguodong', 'What is this?', 'private', [PNG])).toBe(
      IMAGE_TEXTS.mayNotShowImages.en.replace('{model}', 'svc-plus'),
    );
  });

  test('active: an inactive account cannot ask anything under any policy, and a group gets no reason [profile]', async () => {
    for (const key of await deployment.redis.keys('{id}:link:*'))
      await deployment.redis.hset(key, 'status', 'suspended');
    expect(await ask('zhangwei', 'count to 3')).toBe(TURN_TEXTS.suspended.en);
    expect(await ask('zhangwei', 'count to 3', 'wrtown')).toBe(TURN_TEXTS.notHere.en);
    for (const key of await deployment.redis.keys('{id}:link:*')) await deployment.redis.hset(key, 'status', 'active');
    expect(await see('zhangwei', 'private')).toBe('svc-plus');
  });

  test('refused is counted and audited, with the rule and without the person [audit-trail]', async () => {
    const audit = deployment.lines.filter((line) => line.includes('"access-refused"'));
    expect(audit.length).toBeGreaterThanOrEqual(10);
    for (const line of audit) for (const person of PEOPLE) expect(line).not.toContain(person);
    for (const [because, rule] of [
      ['person', 'architecture'],
      ['person', 'otherwise'],
      ['private', 'students'],
      ['group', 'visitors'],
    ])
      expect(audit.some((line) => line.includes(`"because":"${because}","rule":"${rule}"`))).toBe(true);
    const metrics = await got(`${deployment.botUrl}/metrics`).text();
    for (const because of ['person', 'private', 'group']) {
      const count = audit.filter((line) => line.includes(`"because":"${because}"`)).length;
      expect(metrics).toContain(`parley_access_refusals_total{platform="wecom",because="${because}"} ${count}`);
    }
  });
});

describe('a new policy file after a restart', () => {
  const refuseAll = { rules: [], otherwise: { use: false } };

  test('applies to linked people and to /retry, while other commands stay open', async () => {
    expect((await ask('zhangwei', 'count to 4')).trim()).toBe('1 2 3 4');
    await restart({ POLICY_FILE: policyFile(refuseAll), SIGN_IN_HELP_URL: '' });
    expect(await ask('zhangwei', 'count to 4')).toBe(TURN_TEXTS.mayNotUse.en);
    expect(await ask('zhangwei', '/retry')).toBe(TURN_TEXTS.mayNotUse.en);
    expect(await ask('zhangwei', '/retry', 'wrtown')).toBe(TURN_TEXTS.notHere.en);
    expect(await ask('zhangwei', '重试')).toBe(TURN_TEXTS.mayNotUse.zh);
    expect(await ask('zhangwei', '/help')).toContain('Ask me anything');
    expect(await ask('zhangwei', '/whoami')).toContain('张伟');
    expect(await ask('zhangwei', '/new')).toBe(TURN_TEXTS.newConversation.en);
  }, 60_000);

  test('SIGN_IN=optional: people who are not signed in match only rules for them or for all, and are asked to sign in', async () => {
    const policy: PolicyFile = {
      rules: [
        {
          name: 'staff',
          who: { identity: ['JG'] },
          may: { use: true, models: ['svc-max'], private: true, groups: 'all' },
        },
        {
          name: 'strangers',
          who: { signedIn: false },
          may: { use: true, models: ['svc-plus'], private: false, groups: ['wrtown'] },
        },
      ],
      otherwise: { use: false },
    };
    await restart({ POLICY_FILE: policyFile(policy), SIGN_IN: 'optional' });
    expect((await ask('guest', '/unlink')).length).toBeGreaterThan(0);
    expect(await see('guest', 'wrtown')).toBe('svc-plus');
    expect(await see('guest', 'private')).toBe('groupsOnly');
    expect(await see('guest', 'wrother')).toBe('notHere');
    expect(await see('zhangwei', 'private')).toBe('svc-max');

    await restart({ POLICY_FILE: policyFile({ ...policy, rules: policy.rules.slice(0, 1) }), SIGN_IN: 'optional' });
    expect(await ask('guest', 'count to 3')).toMatch(/^Please sign in before you ask: \[Sign in\]\(http/);
    expect(await ask('guest', '数到三')).toMatch(/^登录后即可提问：\[登录\]\(http/);
    expect(await see('guest', 'wrtown')).toBe('notHere');
  }, 60_000);

  test('SIGN_IN=off: all people count as not signed in', async () => {
    await restart({ POLICY_FILE: policyFile(POLICY), SIGN_IN: 'off', SIGN_IN_HELP_URL: '' });
    expect(await ask('zhangwei', 'count to 3')).toBe(TURN_TEXTS.mayNotUse.en);
    const open = { rules: [{ name: 'all', who: {}, may: { ...POLICY.rules[0]?.may } }], otherwise: { use: false } };
    await restart({ POLICY_FILE: policyFile(open), SIGN_IN: 'off' });
    expect(await see('emma.clarke', 'wrother')).toBe('svc-plus');
  }, 60_000);
});
