import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../src/shared/clock.ts';
import { INSTANCE } from '../../../src/shared/log.ts';
import { VERSION } from '../../../src/shared/version.ts';
import { translatorTo } from '../../../src/cli/terminal/translate.ts';
import { freePort } from '../../../src/bot/app/local/embedded-redis.ts';
import { ADMIN_ACCOUNT } from '../../support/admin-people.ts';
import { ADMIN_POLICY, signInAtAdmin, storeAdminData } from '../../support/admin-sign-in.ts';
import { startDeployment, untilTrue, type Deployment } from '../../support/deployment.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { TestBrowser } from '../identity/test-browser.ts';
import { visibleParts } from './visible-parts.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-admin-'));
const POLICY_FILE = join(folder, 'policy.json');
let deployment: Deployment;
let letter: string;
let admin: TestBrowser;

/** Without a worker, so that the question of the dead letter keeps waiting. */
const ENV = { ROLES: 'receiver', ADMIN_IDS: `${ADMIN_ACCOUNT},20110042`, POLICY_FILE };
const at = (path: string) => `${deployment.botUrl}/admin${path}`;
const waiting = async () => {
  const [inbox = ''] = await deployment.redis.keys('{p*}:inbox:*');
  return deployment.redis.llen(inbox);
};

beforeAll(async () => {
  writeFileSync(POLICY_FILE, JSON.stringify(ADMIN_POLICY));
  deployment = await startDeployment({ env: ENV });
  await deployment.messenger.driver.send('zhangwei', 'A question that waits');
  await untilTrue(async () => (await deployment.redis.keys('{p*}:inbox:*')).length === 1);
  letter = await storeAdminData(deployment);
  admin = new TestBrowser();
  await signInAtAdmin(admin, deployment.botUrl, 'administrator');
}, 60_000);
afterAll(async () => {
  await deployment.stop();
  rmSync(folder, { recursive: true });
}, 60_000);

describe('everyone but administrators sees one page at every address [admin-gate]', () => {
  const requests: ['GET' | 'POST', string][] = [
    ['GET', ''],
    ['GET', '/trace?reference=abcdef01'],
    ['GET', '/dead-letters'],
    ['GET', '/usage.csv'],
    ['GET', '/unanswered'],
    ['GET', '/nowhere'],
    ['POST', '/dead-letters/replay'],
    ['POST', '/people/revoke'],
    ['GET', '/pauses'],
    ['POST', '/pauses'],
    ['POST', '/pauses/resume'],
    ['GET', '/budgets?of=model&name=svc-plus'],
    ['POST', '/budgets'],
    ['POST', '/budgets/top-up'],
    ['POST', '/sign-out'],
    ['POST', '/sign-in'],
  ];

  test('a stranger, a signed-in member and a browser with an invented session get the same bytes', async () => {
    const member = new TestBrowser();
    const returned = await signInAtAdmin(member, deployment.botUrl, 'member');
    expect(returned.text).toContain('http-equiv="refresh"');
    const pages = new Set<string>();
    for (const browser of ['stranger', 'member', 'forger'])
      for (const [method, path] of requests) {
        const one = browser === 'member' ? member : new TestBrowser();
        if (browser === 'forger') one.cookies.set(`${deployment.botUrl} __Secure-admin`, 'A'.repeat(43));
        const form = method === 'POST' ? { form: { id: letter, csrf: 'f'.repeat(64) } } : {};
        const headers = { origin: deployment.botUrl, 'sec-fetch-site': 'same-origin' };
        pages.add(JSON.stringify(visibleParts(await one.send(method, at(path), { ...form, headers }))));
      }
    expect([...pages]).toHaveLength(1);
    expect([...pages][0]).toContain('"status":403');
    expect([...pages][0]).not.toContain(ADMIN_ACCOUNT);
  }, 60_000);

  test('the callback of a member has the same page as that of an administrator, and sets no session', async () => {
    const [member, other] = [new TestBrowser(), new TestBrowser()];
    const ofMember = await signInAtAdmin(member, deployment.botUrl, 'member');
    const ofAdmin = await signInAtAdmin(other, deployment.botUrl, 'administrator');
    expect(ofMember.text).toBe(ofAdmin.text);
    const signIns = deployment.lines.filter((line) => line.includes('"act":"sign-in"'));
    expect(signIns.slice(-2).map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual([
      'refused',
      'done',
    ]);
    expect(String(ofMember.headers['set-cookie'])).not.toContain('__Secure-admin=');
    expect((await member.get(at('/usage'))).status).toBe(403);
    expect((await other.get(at('/usage'))).status).toBe(200);
  }, 60_000);

  test('pages cannot be framed, cached or run scripts, and the session is strict', async () => {
    const { headers } = await admin.get(at('/dead-letters'));
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers['cache-control']).toBe('no-store');
    const browser = new TestBrowser();
    const returned = await signInAtAdmin(browser, deployment.botUrl, 'administrator');
    expect(String(returned.headers['set-cookie'])).toMatch(
      /__Secure-admin=[\w-]{43}; Path=\/admin; Max-Age=3600; Secure; HttpOnly; SameSite=Strict/,
    );
  }, 60_000);
});

describe('only the form of an administrator’s own page does anything [admin-acts]', () => {
  const right = async () => {
    const page = await admin.get(at('/dead-letters'));
    const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(page.text)?.[1] ?? '';
    const headers = { origin: deployment.botUrl, 'sec-fetch-site': 'same-origin' };
    return { form: { ...fields(), csrf }, headers };
  };
  /** The fields of all acts. */
  const fields = () => ({
    ...{ id: letter, kind: 'model:', name: 'svc-plus', message: '', target: 'group:wrtown' },
    ...{ of: 'model', limit: 'questionsPerDay', amount: '5' },
  });
  const ACTS = ['/dead-letters/replay', '/pauses', '/pauses/resume', '/budgets/top-up'];
  /** What the acts change. */
  const state = async () => [
    await waiting(),
    await deployment.redis.hgetall('pauses'),
    await deployment.redis.keys('{budget:*'),
  ];
  type Post = Awaited<ReturnType<typeof right>>;
  const otherToken = async () => {
    const browser = new TestBrowser();
    await signInAtAdmin(browser, deployment.botUrl, 'administrator');
    return /name="csrf" value="([0-9a-f]+)"/.exec((await browser.get(at(''))).text)?.[1] ?? '';
  };
  const wrong: [string, (post: Post) => Promise<object> | object][] = [
    ['no token', ({ headers }) => ({ headers, form: fields() })],
    ['an empty token', ({ headers }) => ({ headers, form: { ...fields(), csrf: '' } })],
    [
      'the token of another session',
      async ({ headers }) => ({ headers, form: { ...fields(), csrf: await otherToken() } }),
    ],
    ['no Origin', ({ form }) => ({ form })],
    ['a foreign Origin', ({ form }) => ({ form, headers: { origin: 'https://evil.test' } })],
    ['Origin null', ({ form }) => ({ form, headers: { origin: 'null' } })],
    [
      'Sec-Fetch-Site cross-site',
      ({ form, headers }) => ({ form, headers: { ...headers, 'sec-fetch-site': 'cross-site' } }),
    ],
    [
      'Sec-Fetch-Site same-site',
      ({ form, headers }) => ({ form, headers: { ...headers, 'sec-fetch-site': 'same-site' } }),
    ],
    [
      'a body that is JSON',
      ({ form, headers }) => ({ form, headers: { ...headers, 'content-type': 'application/json' } }),
    ],
  ];
  test.each(wrong)(
    'an act with %s gets 403 and changes nothing',
    async (_what, alter) => {
      const before = await state();
      const post = await alter(await right());
      for (const act of ACTS) expect((await admin.send('POST', at(act), post)).status).toBe(403);
      expect(await state()).toEqual(before);
    },
    30_000,
  );

  test('a GET of an act changes nothing', async () => {
    const before = await state();
    const query = new URLSearchParams(fields()).toString();
    for (const act of ACTS) expect((await admin.get(at(`${act}?${query}`))).status).toBe(act === '/pauses' ? 200 : 404);
    expect(await state()).toEqual(before);
  });

  test('a dead letter is replayed once, and each act is recorded under a pseudonym', async () => {
    const before = await waiting();
    const post = async () => (await admin.send('POST', at('/dead-letters/replay'), await right())).headers['location'];
    expect(await post()).toBe('/admin/dead-letters?result=replayed');
    expect(await post()).toBe('/admin/dead-letters?result=again');
    expect(await waiting()).toBe(before + 1);
    expect(recorded('replay')).toEqual([
      ['done', letter],
      ['refused', letter],
    ]);
    const acts = actsInLog();
    expect(new Set(acts.filter(({ act }) => act !== 'sign-in').map(({ by }) => by)).size).toBe(1);
    expect(deployment.lines.join('\n')).not.toContain(ADMIN_ACCOUNT);
  });

  const actsInLog = () =>
    deployment.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'an administrator acted');
  const recorded = (name: string) =>
    actsInLog()
      .filter(({ act }) => act === name)
      .map(({ outcome, subject }) => [outcome, subject]);
  const post = async (path: string, given: Record<string, string>) => {
    const { form, headers } = await right();
    return admin.send('POST', at(path), { form: { csrf: form.csrf, ...given }, headers });
  };

  test('a pause begins and ends on the page and on the command line alike', async () => {
    const begin = (kind: string, name = '', message = '') => post('/pauses', { kind, name, message });
    expect((await begin('model:', 'svc-max', 'Back at <14:00>.')).headers['location']).toBe(
      '/admin/pauses?result=paused',
    );
    const listed = await runAdmin(deployment.env, 'pauses');
    expect(listed.data).toMatchObject([{ target: 'group:wrtown' }, { target: 'model:svc-max' }]);
    const page = (await admin.get(at('/pauses?result=paused'))).text;
    expect(page).toContain('The pause has begun.');
    expect(page).toContain('Back at &lt;14:00&gt;.');
    await runAdmin(deployment.env, 'pause', 'platform:slack');
    expect((await admin.get(at('/pauses'))).text).toContain('App Slack');
    const end = async (target: string) => (await post('/pauses/resume', { target })).headers['location'];
    expect(await end('platform:slack')).toBe('/admin/pauses?result=resumed');
    expect(await end('platform:slack')).toBe('/admin/pauses?result=not-paused');
    expect(await end('anything')).toBe('/admin/pauses?result=not-paused');
    await runAdmin(deployment.env, 'resume', 'model:svc-max');
    expect((await admin.get(at('/pauses?result=odd'))).text).not.toContain('svc-max');
    expect(recorded('resume')).toEqual([
      ['done', 'platform:slack'],
      ['not-found', 'platform:slack'],
      ['not-found', undefined],
    ]);
    const auditOf = async (account: string) => (await runAdmin(deployment.env, 'audit', 'show', { account })).text;
    const ended = `"event":"resume","subject":"platform:slack","outcome":"done","by":"${ADMIN_ACCOUNT}"`;
    expect(await auditOf(ADMIN_ACCOUNT)).toContain(ended);
    expect(await auditOf('20110042')).toBe('');
  });

  test.each([
    ['', '', 'Choose what to pause.'],
    ['group:', '', 'Enter the id of the group'],
    ['model:', 'svc max', 'Enter the id of the group'],
    ['model:', 'svc-maxi', 'svc-maxi is none of the models: svc-plus · svc-max'],
    ['all', 'svc-max', 'Only a group or a model takes a name.'],
    ['platform:slack', 'C1', 'Only a group or a model takes a name.'],
    ['platform:irc', '', 'Only a group or a model takes a name.'],
  ])('a pause of %j %j is refused with a sentence, and the form keeps its text', async (kind, name, sentence) => {
    const before = await state();
    const page = await post('/pauses', { kind, name, message: 'Back at 14:00, "sharp"' });
    expect(page.status).toBe(200);
    expect(page.text).toContain(sentence);
    expect(page.text).toContain(`value="${name}"`);
    expect(page.text).toContain('value="Back at 14:00, &quot;sharp&quot;"');
    expect(await state()).toEqual(before);
    expect(recorded('pause').at(-1)).toEqual(['refused', undefined]);
  });

  const cell = (text: string) => `<td class="number">${text}</td>`;
  const OWNERS: [string, string, string | undefined][] = [
    ['model', 'svc-plus', '1,000'],
    ['department', '31*', '2,000'],
    ['group', 'wecom:wrtown', '3,000'],
    ['person', '20190012', undefined],
  ];
  test.each(OWNERS)('a top-up of a budget of a %s (%s) adds to its limit', async (of, code, limit) => {
    const shown = async () => (await post('/budgets', { of, name: code })).text;
    expect(await shown()).toContain(limit === undefined ? 'The limits depend on the rule' : cell(limit));
    const topUp = { of, name: code, limit: 'tokensPerDay', amount: '456' };
    const to = String((await post('/budgets/top-up', topUp)).headers['location']);
    expect(to).toMatch(/^\/admin\/budgets\?result=added/);
    expect(await shown()).toContain(cell('456'));
    const { data } = await runAdmin(deployment.env, 'budget', 'show', { [of]: code });
    const row = { name: 'tokensPerDay', used: 0, added: 456 };
    expect(data).toMatchObject({ of, code, limits: expect.arrayContaining([expect.objectContaining(row)]) });
    await runAdmin(deployment.env, 'budget', 'top-up', { [of]: code, limit: 'tokensPerDay', add: '321' });
    expect(await shown()).toContain(cell('777'));
    const after = (await admin.get(new URL(to, deployment.botUrl).href)).text;
    expect(after).toContain('The amount was added.');
    // A person's account is neither part of an address nor of a record.
    expect(after.includes(cell('777'))).toBe(of !== 'person');
    const [outcome, subject] = recorded('budget').findLast(([, about]) => String(about).startsWith('top-up')) ?? [];
    const whose = of === 'person' ? '[0-9a-f]+' : code.replace('*', '\\*');
    expect([outcome, subject]).toEqual([
      'done',
      expect.stringMatching(new RegExp(`^top-up ${of}:${whose} tokensPerDay \\+456$`)),
    ]);
    const addressed = (await admin.get(at(`/budgets?of=${of}&name=${encodeURIComponent(code)}`))).text;
    expect(addressed.includes(cell('777'))).toBe(of !== 'person');
  });

  test.each<[Record<string, string>, string]>([
    [{ of: 'model', amount: '0' }, 'whole number'],
    [{ of: 'model', amount: '1.5' }, 'whole number'],
    [{ of: 'model', amount: '1000000000000000' }, 'whole number'],
    [{ of: 'model', limit: 'answersPerDay' }, 'whole number'],
    [{ of: 'model', limit: 'tokensPerMonth' }, 'The policy file does not set this limit'],
    [{ of: 'model', name: 'svc-mini' }, 'The policy file sets no limits for this name'],
    [{ of: 'department', name: '32*' }, 'The policy file sets no limits for this name'],
    [{ of: 'group', name: 'wrtown' }, 'Enter the group as PLATFORM:ID'],
    [{ of: '' }, 'Choose whose budget it is'],
    [{ of: 'everyone' }, 'Choose whose budget it is'],
    [{ of: 'person', name: ' ' }, 'Choose whose budget it is'],
  ])('a top-up with %j is refused with a sentence, and the form keeps its text', async (given, sentence) => {
    const before = await state();
    const typed = { name: 'svc-plus', limit: 'tokensPerDay', amount: '7', ...given };
    const page = await post('/budgets/top-up', typed);
    expect(page.status).toBe(200);
    expect(page.text).toContain(sentence);
    expect(page.text).toContain(`value="${typed.name.trim()}"`);
    expect(await state()).toEqual(before);
  });

  const topUp = (of: string, name: string, limit = 'tokensPerDay') => ({ [of]: name, limit, add: '7' });
  test.each<[string, Record<string, string>, string]>([
    ['pause model:svc-maxi', {}, 'There is no model svc-maxi. Models: svc-plus, svc-max'],
    ['budget top-up', topUp('model', 'svc-mini'), 'sets no tokensPerDay for svc-mini. It sets limits for: svc-plus'],
    ['budget top-up', topUp('model', 'svc-plus', 'tokensPerMonth'), 'sets no tokensPerMonth for svc-plus.'],
    ['budget top-up', topUp('department', '32*'), 'sets no tokensPerDay for 32*. It sets limits for: 31*'],
    ['usage', { since: '2026-11-02', until: '2026-11-01' }, '--until must not be before --since'],
  ])('the command line refuses %s %j and names what exists', async (command, options, sentence) => {
    const [before, acts] = [await state(), actsInLog().length];
    const [subcommand = '', subject] = command.split(' ');
    const { code, data } = await runAdmin(deployment.env, subcommand, subject, options);
    expect([code, data]).toEqual([2, { error: expect.stringContaining(sentence) }]);
    expect((await runAdmin(deployment.env, subcommand, subject, { ...options, json: false })).asides).toContain(
      sentence,
    );
    expect([await state(), actsInLog().length]).toEqual([before, acts]);
  });

  test('a top-up for an account without a sign-in or use has a warning', async () => {
    const warned = async (name: string) =>
      (await runAdmin(deployment.env, 'budget', 'top-up', topUp('person', name))).data;
    expect(await warned('20190012')).toMatchObject({ added: 7, isKnown: true });
    for (const _again of [1, 2]) expect(await warned('20199999')).toMatchObject({ added: 7, isKnown: false });
    const typed = { of: 'person', name: '20199999', limit: 'tokensPerDay', amount: '7' };
    const to = String((await post('/budgets/top-up', typed)).headers['location']);
    expect((await admin.get(new URL(to, deployment.botUrl).href)).text).toContain('Check the account.');
  });

  test('a budget without limits, and a policy file that cannot be read, have a sentence each', async () => {
    const shown = async (name: string) => (await admin.get(at(`/budgets?of=model&name=${name}`))).text;
    const unknown = await shown('svc-mini');
    expect(unknown).toContain('The policy file sets no limits for this name');
    expect(unknown).not.toContain('/admin/budgets/top-up');
    expect(recorded('budget').at(-1)).toEqual(['not-found', undefined]);
    renameSync(POLICY_FILE, `${POLICY_FILE}.away`);
    expect(await shown('svc-plus')).toContain('The policy file cannot be read');
    renameSync(`${POLICY_FILE}.away`, POLICY_FILE);
    expect(await shown('svc-plus')).toContain(cell('1,000'));
  });

  test.each<[since: string, until: string, questions: Record<string, number>, complaint: string]>([
    ['2025-10-01', '2025-10-31', { 3100: 5, 2200: 1 }, ''],
    ['2025-10-01', '2025-10-30', { 3100: 4, 2200: 1 }, ''],
    ['2025-10-31', '2025-10-31', { 3100: 1 }, ''],
    ['', '2025-10-01', { 3100: 4, 4500: 16 }, ''],
    ['2025-10-02', '2025-10-30', { 2200: 1 }, ''],
    ['2025-10-31', '2025-10-01', {}, 'The end date is before the start date.'],
    ['2025-10-01', '2025-10-32', {}, 'The date has the form'],
    ['2025-13-01', '2025-10-31', {}, 'The date has the form'],
  ])(
    'usage from %j to %j by department counts both dates, or is refused',
    async (since, until, questions, complaint) => {
      const months = { '2025-09': { '30:a:4500:questions': 16 }, '2025-11': { '01:a:2200:questions': 32 } };
      const october = { '01:a:3100:questions': 4, '02:b:2200:questions': 1, '31:a:3100:questions': 1 };
      for (const [month, fields] of Object.entries({ ...months, '2025-10': october }))
        await deployment.redis.hset(`{p1}:usage:someone:${month}`, fields);
      const query = new URLSearchParams({ by: 'department', since, until }).toString();
      const page = (await admin.get(at(`/usage?${query}`))).text;
      if (complaint === '') {
        expect(page).toContain(`/admin/usage.csv?${query.replaceAll('&', '&amp;')}`);
        expect(page).not.toContain('role="alert"');
        const csv = (await admin.get(at(`/usage.csv?${query}`))).text.trim().split('\r\n').slice(1);
        const rows = csv.map((line) => line.split(',').slice(0, 2));
        expect(Object.fromEntries(rows.map(([name = '', count]) => [name, Number(count)]))).toEqual(questions);
        const { data } = await runAdmin(deployment.env, 'usage', '', { by: 'department', since, until });
        const told = data as { department: string; questions: number }[];
        expect(Object.fromEntries(told.map((one) => [one.department, one.questions]))).toEqual(questions);
      } else expect(page).toContain(complaint);
    },
  );

  test('the CSV has the sums of the page, and a link is revoked only if it exists', async () => {
    const csv = (await admin.get(at('/usage.csv?by=model'))).text;
    expect(csv.split('\r\n')[0]).toBe('\uFEFFmodel,questions,tokens,cost CNY');
    expect(csv).toMatch(/^svc-plus,\d+,\d+,\d+\.\d+\r$/m);
    expect(csv).toMatch(/^svc-max,\d+,\d+,0\r$/m);
    expect((await admin.get(at('/usage?by=model'))).text).toContain('Cost in CNY');
    expect((await admin.get(at('/unanswered.csv'))).text).toContain('bicycle,2,2,0,0');
    const unanswered = (await admin.get(at('/unanswered'))).text;
    expect(unanswered).toContain('自行车');
    expect(unanswered).not.toContain('repairs a bicycle');
    const { form, headers } = await right();
    const search = (account: string) =>
      admin.send('POST', at('/people'), { form: { csrf: form.csrf, account }, headers });
    expect((await search('20190013')).text).toContain('No chat account is linked');
    const found = await search('20190012');
    expect(found.text).toContain('emma.clarke');
    const person = /name="person" value="([0-9a-f]+)"/.exec(found.text)?.[1] ?? '';
    const revoke = async (account: string) =>
      (await admin.send('POST', at('/people/revoke'), { form: { csrf: form.csrf, account, person }, headers })).headers[
        'location'
      ];
    expect(await revoke('20080117')).toBe('/admin/people?result=gone');
    expect(await revoke('20190012')).toBe('/admin/people?result=revoked');
    expect(await revoke('20190012')).toBe('/admin/people?result=gone');
    expect((await search('20190012')).text).toContain('No chat account is linked');
  });

  /** `#` stands for any value. */
  const ROWS: [instance: string, page: string, line: string, chinese: string][] = [
    [
      'web-2-aaaaaa',
      'draining receiver, worker 2 of 40 0 s ago 1 h 2 min 9.9.9 web-2 4711',
      'draining  receiver, worker  version 9.9.9, host web-2, process 4711, started #, seen 0.0 s ago, answers 2 of 40',
      '正在关闭  receiver, worker  版本 9.9.9，主机 web-2，进程 4711，启动于 #，0.0 秒前有心跳，回答 2/40',
    ],
    [
      'bbbbbb',
      'alive worker – 0 s ago – – –',
      'alive  worker  version -, host -, process -, started -, seen 0.0 s ago',
      '正常  worker  版本 -，主机 -，进程 -，启动于 -，0.0 秒前有心跳',
    ],
    [
      'cccccc',
      'not responding worker – # ago – – –',
      'not responding  worker  version -, host -, process -, started -, seen # s ago',
      '无响应  worker  版本 -，主机 -，进程 -，启动于 -，# 秒前有心跳',
    ],
    [
      INSTANCE,
      `alive receiver – # ago # ${VERSION} # ${process.pid}`,
      `alive  receiver  version ${VERSION}, host #, process ${process.pid}, started #, seen # s ago`,
      `正常  receiver  版本 ${VERSION}，主机 #，进程 ${process.pid}，启动于 #，# 秒前有心跳`,
    ],
  ];
  test.each(ROWS)('the process %s is listed on the page and on the command line', async (instance, ...expected) => {
    const row = new RegExp(`<code>${instance}</code>(.*?)</tr>`, 's').exec((await admin.get(at(''))).text)?.[1] ?? '';
    const { text } = await runAdmin(deployment.env, 'workers', '', { json: false });
    const [line = ''] = text.split('\n').filter((one) => one.startsWith(`${instance}  `));
    const shown = [
      row
        .replaceAll(/<[^>]*>|\s+/g, ' ')
        .replaceAll(/ {2,}/g, ' ')
        .trim(),
      line.replace(`${instance}  `, ''),
      translatorTo('zh')(line).replace(`${instance}  `, ''),
    ];
    const formOf = (one: string) => new RegExp(`^${one.replaceAll('.', String.raw`\.`).replaceAll('#', '[^,，]+')}$`);
    expect(shown).toEqual(expected.map((one) => expect.stringMatching(formOf(one))));
  });

  test('the list of processes has JSON, and a sentence if it is empty', async () => {
    expect((await runAdmin(deployment.env, 'workers')).data).toContainEqual({
      ...{ instance: 'web-2-aaaaaa', roles: ['receiver', 'worker'], version: '9.9.9', host: 'web-2', pid: 4711 },
      ...{ state: 'draining', runningTurns: 2, maxTurns: 40, seenSecondsAgo: 0, started: expect.any(String) },
    });
    const env = { ...deployment.env, REDIS_URL: new URL('/1', deployment.redisServer.url).href };
    expect((await runAdmin(env, 'workers')).data).toEqual([]);
    const { text } = await runAdmin(env, 'workers', '', { json: false });
    expect([text, translatorTo('zh')(text)]).toEqual([
      'No receiver or worker is running\n',
      '没有运行中的 receiver 或 worker\n',
    ]);
  });

  test('a reference shows the steps of its question; unknown and malformed ones say so', async () => {
    const [record = ''] = await deployment.redis.keys('{p*}:message:*');
    const reference = /:message:(.{8})/.exec(record)?.[1] ?? '';
    expect((await admin.get(at(`/trace?reference=${reference}`))).text).toContain('accepted');
    expect((await admin.get(at('/trace?reference=00000000'))).text).toContain('No question has this reference');
    const odd = await admin.get(at(`/trace?reference=${encodeURIComponent('"><script>')}`));
    expect(odd.text).toContain('8 to 40 digits');
    expect(odd.text).not.toContain('<script>');
  });
});

describe('callbacks and sessions [admin-gate]', () => {
  /** The address to which the service sends the administrator back. */
  const callbackOf = async (browser: TestBrowser) => {
    const page = await signInAtAdmin(browser, deployment.botUrl, 'administrator', /\/oauth\/callback/);
    return new URL(String(page.headers['location']), page.url).href;
  };

  test('a callback in another browser, with another state or a second time begins no session', async () => {
    const own = new TestBrowser();
    const callback = await callbackOf(own);
    const other = new TestBrowser();
    await other.get(at(''));
    expect((await other.get(callback)).status).toBeGreaterThanOrEqual(400);
    const forged = new URL(callback);
    forged.searchParams.set('state', '0'.repeat(64));
    expect((await own.get(forged.href)).status).toBeGreaterThanOrEqual(400);
    const without = new URL(callback);
    without.searchParams.delete('state');
    expect((await own.get(without.href)).status).toBeGreaterThanOrEqual(400);
    expect(String((await own.get(callback)).headers['set-cookie'])).toContain('__Secure-admin=');
    const again = new TestBrowser();
    expect(String((await again.get(callback)).headers['set-cookie'])).not.toContain('__Secure-admin=');
    expect((await other.get(at(''))).status).toBe(403);
    expect((await own.get(at(''))).status).toBe(200);
  }, 60_000);

  test('signing out ends the session for every copy of its cookie', async () => {
    const own = new TestBrowser();
    await signInAtAdmin(own, deployment.botUrl, 'administrator');
    const copy = new TestBrowser();
    for (const [name, value] of own.cookies) copy.cookies.set(name, value);
    expect((await copy.get(at(''))).status).toBe(200);
    const out = await own.submit(await own.get(at('')), '/admin/sign-out');
    expect(out.headers['location']).toBe('/admin');
    expect((await copy.get(at(''))).status).toBe(403);
  }, 60_000);

  test('a session ends after an hour, also if it is used', async () => {
    const own = new TestBrowser();
    await signInAtAdmin(own, deployment.botUrl, 'administrator');
    deployment.advance(HOUR_MS - 60_000);
    expect((await own.get(at(''))).status).toBe(200);
    deployment.advance(120_000);
    expect((await own.get(at(''))).status).toBe(403);
  }, 60_000);

  test('a session ends when its account leaves ADMIN_IDS, and no page exists without ADMIN_IDS', async () => {
    const own = new TestBrowser();
    await signInAtAdmin(own, deployment.botUrl, 'administrator');
    expect((await own.get(at(''))).status).toBe(200);
    await deployment.stopBot();
    await deployment.startBot({ ADMIN_IDS: '20110042' });
    // Until Redis is connected, the page says that it is unavailable.
    const seen = new Set<number>();
    await untilTrue(async () => {
      const { status } = await own.get(at(''));
      seen.add(status);
      return status === 403;
    });
    expect([...seen].filter((status) => status !== 503)).toEqual([403]);
    await deployment.stopBot();
    Reflect.deleteProperty(deployment.env, 'ADMIN_IDS');
    await deployment.startBot();
    for (const path of ['', '/usage', '/page.css', '/sign-in']) expect((await own.get(at(path))).status).toBe(404);
    await deployment.stopBot();
    deployment.env['ADMIN_IDS'] = ENV.ADMIN_IDS;
    await deployment.startBot();
  }, 60_000);

  test('ADMIN_PORT alone has the page, and the sign-in leads back to it', async () => {
    const port = await freePort();
    await deployment.stopBot();
    await deployment.startBot({ ADMIN_PORT: String(port) });
    expect((await new TestBrowser().get(at(''))).status).toBe(404);
    const origin = `http://127.0.0.1:${port}`;
    expect((await fetch(`${origin}/healthz`)).status).toBe(404);
    const landing = await new TestBrowser().get(`${origin}/admin`);
    expect(landing.status).toBe(403);
    // The test browser keeps cookies by origin, unlike a real one, which ignores the port.
    const own = new TestBrowser();
    const begun = await own.submit(await own.get(`${origin}/admin`));
    for (const [name, value] of own.cookies) own.cookies.set(name.replace(origin, deployment.botUrl), value);
    const returned = await signInAtAdmin(own, origin, 'administrator');
    expect(begun.status).toBe(200);
    const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(begun.text) ?? [];
    expect((await fetch(origin + style)).status).toBe(200);
    expect(returned.url).toContain(`${deployment.botUrl}/oauth/callback`);
  }, 60_000);

  test('an address with 600 failures in a minute gets 429, while administrators there keep working [rate-limits]', async () => {
    await deployment.stopBot();
    await deployment.startBot();
    await untilTrue(async () => (await new TestBrowser().get(at(''))).status === 403);
    const own = new TestBrowser();
    await signInAtAdmin(own, deployment.botUrl, 'administrator');
    const knock = async () => (await new TestBrowser().send('POST', at('/sign-out'), { form: { csrf: 'x' } })).status;
    const statuses = new Set<number>();
    for (let round = 0; round < 14 && !statuses.has(429); round += 1)
      for (const status of await Promise.all(Array.from({ length: 100 }, knock))) statuses.add(status);
    expect([...statuses].toSorted()).toEqual([403, 429]);
    expect((await own.get(at('/usage'))).status).toBe(200);
  }, 60_000);
});
