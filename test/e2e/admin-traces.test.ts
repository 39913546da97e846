import { expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, helloStream, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { personIdOf } from '../../src/bot/domain/conversation.ts';
import { readTraces, type Trace, type TracedStep } from '../../src/bot/queue/read-trace.ts';
import { ageMessages } from '../support/age-messages.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { testTier } from '../support/tries.ts';

// Real workers that are killed and frozen, a failing model, a listed word and late workers. The trace of each question must
// explain what its person saw and what the chat service received.

jest.setTimeout(180_000);
const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-admin-traces-'));
const wordsFile = join(folder, 'words.txt');
writeFileSync(wordsFile, 'falcon\n');

const EACH = { fast: 2, full: 4, long: 9 }[testTier()];
const KINDS = ['expired', 'plain', 'failing', 'blocked', 'killed', 'frozen'] as const;
type Kind = (typeof KINDS)[number];

/** What the test knows of a question, apart from its trace. */
interface Asked {
  kind: Kind;
  user: string;
  trace: Trace;
  /** Calls that the chat service received for it. */
  calls: number;
  shown: string;
}

const WORDS: Readonly<Record<Kind, string>> = {
  expired: 'A late question',
  plain: 'A plain question',
  failing: 'A failing question',
  blocked: 'A question about a falcon',
  killed: 'A slow question before a kill',
  frozen: 'A slow question before a freeze',
};
const usersOf = (kind: Kind) => Array.from({ length: EACH }, (_, index) => `U${kind.toUpperCase()}${index}`);
const channelOf = (user: string) => `D${user}`;
const lastIn = (user: string) => deployment.textsIn(channelOf(user)).at(-1) ?? '';
const isSlow = new Set<string>();

/** Slow questions stream until their worker is gone; the next attempt is answered at once. */
const answers: Answer = async (response, call) => {
  const body = JSON.stringify(call.body);
  if (body.includes('failing')) {
    response.writeHead(400, { 'content-type': 'text/html' }).end('<html>sorrow</html>');
    return;
  }
  const id = call.requestId ?? '';
  if (!body.includes('slow') || isSlow.has(id)) return helloStream('Hello.')(response, call);
  isSlow.add(id);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 0; word < 400 && !response.destroyed; word += 1) {
    response.write(chunk({ content: `word ${word} ` }));
    await sleep(100);
  }
  response.end(chunk({}, 'stop') + sse('[DONE]'));
};

async function ask(kind: Kind): Promise<void> {
  for (const user of usersOf(kind)) await deployment.sender.direct(user, WORDS[kind]);
}

const startWorkers = (count: number): Promise<ParleyProcess[]> =>
  Promise.all(
    Array.from({ length: count }, () =>
      deployment.startProcess({ ROLES: 'worker', MODERATION_WORDS_FILE: wordsFile, QUESTION_MAX_AGE_SEC: '60' }),
    ),
  );

const untilAll = (kinds: readonly Kind[], isSeen: (text: string) => boolean) =>
  untilTrue(() => kinds.flatMap(usersOf).every((user) => isSeen(lastIn(user))), 60_000);

async function askAll(): Promise<void> {
  await deployment.startBot({ ROLES: 'receiver' });
  await ask('expired');
  await ageMessages(deployment.redis, 120_000);
  const first = await startWorkers(2);
  for (const kind of ['plain', 'failing', 'blocked'] as const) await ask(kind);
  await untilAll(['expired', 'plain', 'failing', 'blocked'], (text) => text !== '' && !text.startsWith('Answering'));
  await ask('killed');
  await untilAll(['killed'], (text) => text.includes('word'));
  for (const worker of first) worker.kill('SIGKILL');
  const second = await startWorkers(2);
  await untilAll(['killed'], (text) => text === 'Hello.');
  await ask('frozen');
  await untilAll(['frozen'], (text) => text.includes('word'));
  for (const worker of second) worker.kill('SIGSTOP');
  await startWorkers(1);
  await untilAll(['frozen'], (text) => text === 'Hello.');
  for (const worker of second) worker.kill('SIGKILL');
}

async function ledger(): Promise<Asked[]> {
  const keys = await deployment.redis.keys('{p*}:message:*');
  // A person sees the end of an answer shortly before its commit.
  const statesOf = () => Promise.all(keys.map((key) => deployment.redis.hget(key, 'state')));
  await untilTrue(async () => !(await statesOf()).includes('accepted'));
  const owners = await Promise.all(keys.map(async (key) => [await deployment.redis.hget(key, 'owner'), key] as const));
  return Promise.all(
    KINDS.flatMap((kind) =>
      usersOf(kind).map(async (user): Promise<Asked> => {
        const owner = personIdOf({ platform: 'slack', tenant: 'slack', app: 'bot' }, user);
        const key = owners.find(([found]) => found === owner)?.[1] ?? '';
        const id = key.slice(key.lastIndexOf(':') + 1);
        const [trace] = await readTraces(deployment.redis, id.slice(0, 8));
        if (!trace) throw new Error(`no trace of ${kind}`);
        const calls = deployment.chat.calls.filter(({ requestId }) => requestId === id).length;
        return { kind, user, trace, calls, shown: lastIn(user) };
      }),
    ),
  );
}

const told = ({ step, values }: TracedStep) => [step, ...Object.values(values)].join(' ');

/** Contradictions between a trace and what the test knows. */
function judge({ kind, trace: { steps, person }, calls, shown, user }: Asked): string[] {
  const of = (step: string) => steps.filter((one) => one.step === step);
  const claims = of('claimed');
  const workers = new Set(claims.map(({ values }) => values['worker']));
  const ended = of('ended').at(-1)?.values['outcome'];
  const outcomes = of('model call ended').map(({ values }) => values['outcome']);
  const isTaken = kind === 'killed' || kind === 'frozen';
  const times = steps.map(({ atMs }) => atMs);
  const facts: Record<string, boolean> = {
    'is accepted': of('accepted').length === 1,
    'is woken': of('woken').length > 0,
    'names its person': person === personIdOf({ platform: 'slack', tenant: 'slack', app: 'bot' }, user),
    'has the claims': isTaken ? claims.length >= 2 && workers.size >= 2 : claims.length >= 1,
    'counts the crash': Number(claims.at(-1)?.values['crashes']) > 0 === isTaken,
    'has ended': ended !== undefined,
    'ends as its person saw':
      ended === { failing: 'failed', blocked: 'refused', expired: 'expired' }[kind as string] ||
      (ended === 'answered' && shown === 'Hello.'),
    // Calls that a dead worker made have no end.
    'has each call': isTaken
      ? of('model asked').length === calls && outcomes.at(-1) === 'complete'
      : outcomes.length === calls,
    'has the first token': of('first token').length > 0 === (kind === 'plain' || isTaken),
    'has the error': of('error').length > 0 === (kind === 'failing'),
    'has the verdict': of('moderated').length > 0 === (kind === 'blocked'),
    'has the post': of('posts').some(({ values }) => values['count'] === 1),
    'is in order': times.every((time, at) => at === 0 || time >= (times[at - 1] ?? 0) - 5_000 || kind === 'expired'),
  };
  return Object.entries(facts).flatMap(([fact, holds]) =>
    holds ? [] : [`${kind} ${user}: ${fact}: ${steps.map(told).join(' | ')}`],
  );
}

/** Runs `admin` as an administrator does. */
async function admin(...args: string[]): Promise<{ code: number | null; output: string }> {
  const ran = await startParleyProcess({
    command: ['node', 'dist/main.js', 'admin', ...args],
    env: { ...deployment.env, LOG_LEVEL: 'silent', LANG: 'en_US.UTF-8' },
  });
  const code = await ran.ended;
  await untilTrue(() => ran.output() !== '');
  return { code, output: ran.output() };
}

test('the trace of each question explains what happened to it, whatever its workers suffered [question-traces]', async () => {
  deployment.chat.script(answers);
  try {
    await askAll();
    const asked = await ledger();
    expect(asked).toHaveLength(KINDS.length * EACH);
    expect(asked.flatMap(judge)).toEqual([]);
    // Nothing of a question or an answer is part of its trace.
    expect(JSON.stringify(asked.map(({ trace }) => trace))).not.toMatch(/question|falcon|Hello|word \d/);

    const failed = asked.find(({ kind }) => kind === 'failing');
    const [, reference = ''] = /Reference: ([0-9a-f]{8})$/.exec(failed?.shown ?? '') ?? [];
    const { code, output } = await admin('trace', reference, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject([{ id: failed?.trace.id, state: 'final' }]);
    const usage = await admin('usage', '--by', 'model', '--json');
    expect(JSON.parse(usage.output)).toEqual([
      { model: 'svc-plus', questions: expect.any(Number), tokens: expect.any(Number) },
    ]);
    expect(await admin('trace', '00000000')).toMatchObject({ code: 1, output: expect.stringContaining('No question') });
    expect(await admin('trace', 'nonsense')).toMatchObject({ code: 2 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
