import { describe, expect, test } from '@jest/globals';
import { beginPause, endPause } from '../../src/bot/turn/pauses/pause-store.ts';
import { readPauseTarget, type PauseTarget } from '../../src/bot/domain/pause.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms, PLATFORMS } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();

const changes = () => deployment.lines.filter((line) => line.includes('the pauses changed')).length;

async function change(act: () => Promise<unknown>): Promise<void> {
  const before = changes();
  await act();
  await untilTrue(() => changes() > before);
}
const pause = (target: PauseTarget, message?: string) =>
  change(() => beginPause(deployment.redis, { target, message, sinceMs: Date.now() }));
const resume = (target: PauseTarget) => change(() => endPause(deployment.redis, target));

async function start(more: Record<string, string> = {}) {
  deployment.chat.script(helloStream('Fine.'));
  const here = bothPlatforms(deployment);
  await deployment.startBot({ ...here.env, ...more });
  return here;
}

async function admin(...args: string[]): Promise<{ code: number | null; output: string }> {
  const run = await startParleyProcess({ env: deployment.env, command: ['node', 'dist/main.js', 'admin', ...args] });
  const code = await run.ended;
  return { code, output: run.output() };
}

describe.each(PLATFORMS)('a pause on %s [pauses]', (platform) => {
  test('of everything answers each question once with a sentence, and commands still work', async () => {
    const here = await start();
    const ask = async (text: string) => (await here.sayAll(platform, [{ person: 'ann', text }]))[0]?.snapshots.at(-1);
    await pause('all', 'Back at 14:00.');
    expect(await ask('Are you there?')).toBe(
      'The administrators have paused me. Please ask again later.\n\nBack at 14:00.',
    );
    expect(await ask('你在吗？')).toBe('管理员已暂停机器人的服务，请稍后再问。\n\nBack at 14:00.');
    expect(await ask(platform === 'slack' ? 'help' : '/help')).toContain('用量');
    expect(deployment.chat.calls).toEqual([]);
    await resume('all');
    expect(await ask('And now?')).toBe('Fine.');
  });

  test('of this platform or this group does not concern the other ones', async () => {
    const here = await start();
    const ask = async (where: typeof platform, group?: string) =>
      (await here.sayAll(where, [{ person: 'ann', text: 'now', group }]))[0]?.snapshots.at(-1);
    const other = platform === 'slack' ? 'wecom' : 'slack';
    await pause(`platform:${platform}`);
    expect(await ask(platform)).toBe('The administrators have paused me in this app. Please ask again later.');
    expect(await ask(other)).toBe('Fine.');
    await resume(`platform:${platform}`);
    await pause('group:C1');
    expect(await ask(platform, 'C1')).toContain('The administrators have paused me in this group.');
    expect([await ask(platform, 'C2'), await ask(platform)]).toEqual(['Fine.', 'Fine.']);
  });
});

test('of a model names it, calls neither it nor as a fallback, and leaves the others [pauses]', async () => {
  const models = { CHAT_MODELS: 'model-a,model-b', CHAT_FALLBACK_MODEL: 'model-b' };
  const here = await start(models);
  const ask = async (text: string) => (await here.sayAll('wecom', [{ person: 'ann', text }]))[0]?.snapshots.at(-1);
  await pause('model:model-a');
  expect(await ask('now')).toBe(
    'The administrators have paused the model model-a. Choose another model (/model) or ask again later.',
  );
  await ask('/model model-b');
  expect(await ask('now')).toBe('Fine.');
  await pause('model:model-b');
  expect(await ask('now')).toBe('The administrators have paused the model model-b. Please ask again later.');
  await resume('model:model-a');
  await ask('/model model-a');
  deployment.chat.script((response) => void response.writeHead(401).end());
  const calls = deployment.chat.calls.length;
  await ask('fails');
  const asked = deployment.chat.calls.slice(calls).map(({ body }) => body['model']);
  expect(new Set(asked)).toEqual(new Set(['model-a']));
});

test('the command line pauses, lists and resumes in all processes, also those that start later [pauses]', async () => {
  deployment.chat.script(helloStream('Fine.'));
  const roles = { LIMIT_PERSON_PER_MINUTE: '1000' };
  await deployment.startProcess({ ...roles, ROLES: 'receiver' });
  await deployment.startProcess({ ...roles, ROLES: 'worker' });
  expect(await admin('pause', 'all')).toMatchObject({ code: 0, output: expect.stringContaining('Paused: all') });
  await deployment.startProcess({ ...roles, ROLES: 'worker' });
  const people = Array.from({ length: 30 }, (_, index) => `U${index}`);
  await Promise.all(people.map((person) => deployment.sender.direct(person, 'now')));
  await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0, 60_000);
  for (const person of people)
    expect(deployment.textsIn(`D${person}`)).toEqual(['The administrators have paused me. Please ask again later.']);
  expect(deployment.chat.calls).toEqual([]);
  const listed = await admin('pauses', '--json');
  expect(JSON.parse(listed.output.split('\n').find((line) => line.startsWith('[')) ?? '')).toEqual([
    { target: 'all', since: expect.any(String) },
  ]);
  expect((await admin('resume', 'all')).code).toBe(0);
  expect((await admin('resume', 'all')).code).toBe(1);
  // As an earlier version stored it.
  await deployment.redis.hset('pauses', 'group:slack:C1', '{"sinceMs":1}');
  expect((await admin('resume', 'group:slack:C1')).code).toBe(0);
  expect(await deployment.redis.hlen('pauses')).toBe(0);
  await deployment.sender.direct('U1', 'and now');
  await untilTrue(() => deployment.textsIn('DU1').includes('Fine.'), 60_000);
}, 180_000);

test.each(['', 'everything', 'platform:irc', 'group:', 'group:slack:', 'model:a b', 'all '])(
  '%j is no target of a pause [pauses]',
  (text) => {
    expect(readPauseTarget(text)).toBeUndefined();
  },
);

test.each([
  ...['all', 'platform:wecom', 'platform:slack', 'group:C1', 'model:a'].map((text) => [text, text]),
  ['group:slack:C1', 'group:C1'],
])('%j is a target of a pause [pauses]', (text, target) => {
  expect(readPauseTarget(text)).toBe(target);
});
