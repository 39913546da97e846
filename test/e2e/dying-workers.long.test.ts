import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../../src/shared/deferred.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { chunk, helloStream, sse, statusOf, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { ParleyProcess } from '../support/parley-process.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// Real worker processes that are killed. Each has its own key for the chat service, which identifies the calling worker.

const deployment = useSlackDeployment();
/** A worker may call the model before it has reported that it is ready. */
const workers = new Map<string, Promise<ParleyProcess>>();

const DEADLY = new URL('../support/die-of-response.mjs', import.meta.url).pathname;
const keyOf = (name: string) => `sk-${name}-0123456789`;
async function startWorker(name: string, more: Record<string, string> = {}): Promise<void> {
  const env = {
    ...more,
    ...{ ROLES: 'worker', CHAT_API_KEY: keyOf(name), WORKER_CONCURRENCY: '200' },
    NODE_OPTIONS: `--import=${DEADLY}`,
  };
  const starting = deployment.startProcess(env, true);
  workers.set(`Bearer ${keyOf(name)}`, starting);
  await starting;
}
/** Restarts workers that die, as a supervisor does. @returns a function that ends it */
function supervise(...names: string[]): () => Promise<void> {
  const over = new AbortController();
  const keep = async (name: string): Promise<void> => {
    while (!over.signal.aborted) {
      await startWorker(name);
      const isOver = sleep(300_000, undefined, { signal: over.signal }).catch(() => undefined);
      const worker = await workers.get(`Bearer ${keyOf(name)}`);
      await Promise.race([worker?.ended, isOver]);
    }
  };
  const kept = names.map(keep);
  return async () => {
    over.abort();
    await Promise.all(kept);
  };
}
type Call = Parameters<Answer>[1];
const askerOf = ({ authorization = '' }: Call) => workers.get(authorization);
const killAsker = async (call: Call | undefined) => (await (call && askerOf(call)))?.kill('SIGKILL');
/** Kills the process that asks, which need not be the worker itself. */
const kills: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-deadly-after-ms': '0' });
  response.write(chunk({ content: 'a' }));
};
const questionOf = ({ body }: Call) => JSON.stringify((body['messages'] as object[]).at(-1));

/** Streams words one by one until all are sent or the caller disconnects. */
const says =
  (words: string[], everyMs: number): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, word] of words.entries()) {
      if (response.destroyed) return;
      response.write(chunk({ content: index === 0 ? word : ` ${word}` }));
      await sleep(everyMs);
    }
    response.end(chunk({}, 'stop') + sse('[DONE]'));
  };
const counted = (last: number) => Array.from({ length: last }, (_, index) => String(index + 1));

test('the turn of a killed worker continues on another one within 20 s, in the same message [worker-killed] [quick-takeover]', async () => {
  deployment.chat.script(says(counted(60), 40));
  await deployment.startBot({ ROLES: 'receiver' });
  await startWorker('one');
  await startWorker('two');
  await deployment.sender.direct('U1', 'count, please');
  await untilTrue(() => deployment.textsIn('DU1').length === 1);
  const [first] = deployment.chat.calls;
  await killAsker(first);
  const killedMs = Date.now();
  await untilTrue(() => deployment.chat.calls.length === 2, 30_000);
  const tookMs = Date.now() - killedMs;
  expect(askerOf(deployment.chat.calls[1] as Call)).not.toBe(first && askerOf(first));
  expect(tookMs).toBeLessThan(20_000);
  await deployment.untilShown('DU1', [counted(60).join(' ')], 20_000);
  process.stdout.write(`worker-killed: asked again ${(tookMs / 1_000).toFixed(1)} s after the kill\n`);
}, 60_000);

test('a worker that was frozen past its lock writes nothing and ends its model call when it resumes [worker-frozen] [fence]', async () => {
  let asked = 0;
  const ends: Promise<string>[] = [];
  deployment.chat.script((response, call) => {
    asked += 1;
    ends.push(call.closed);
    return says(
      counted(asked === 1 ? 3_000 : 30).map((word) => `${asked}:${word}`),
      40,
    )(response, call);
  });
  await deployment.startBot({ ROLES: 'receiver' });
  await startWorker('one');
  await deployment.sender.direct('U1', 'count, please');
  await untilTrue(() => deployment.textsIn('DU1').length === 1);
  const frozen = await [...workers.values()][0];
  frozen?.kill('SIGSTOP');
  try {
    await startWorker('two');
    const whole = counted(30)
      .map((word) => `2:${word}`)
      .join(' ');
    await deployment.untilShown('DU1', [whole], 30_000);
    await sleep(300);
    const callsBefore = deployment.slack.calls.length;
    frozen?.kill('SIGCONT');
    expect(await Promise.race([ends[0], sleep(12_000, 'still reading', { ref: false })])).toBe('cut');
    await sleep(500);
    expect(deployment.slack.calls.slice(callsBefore).map(({ method }) => method)).toEqual([]);
    expect(deployment.textsIn('DU1')).toEqual([whole]);
    expect(asked).toBe(2);
  } finally {
    frozen?.kill('SIGCONT');
  }
}, 90_000);

test('a worker that cannot reach Redis does not repeat its refused model call after another worker took its turn [fence]', async () => {
  const link = await startTcpProxy(Number(new URL(deployment.redisServer.url).port));
  const taken = new Deferred();
  deployment.chat.script(async (response, call) => {
    if (deployment.chat.calls.length > 1) return helloStream('hello')(response, call);
    await taken.promise;
    return statusOf(503)(response, call);
  });
  await deployment.startBot({ ROLES: 'receiver' });
  await startWorker('one', { REDIS_URL: `redis://127.0.0.1:${link.port}` });
  await deployment.sender.direct('U1', 'hello?');
  await untilTrue(() => deployment.chat.calls.length === 1);
  await startWorker('two');
  link.breakWith({ kind: 'hold', heals: true });
  await deployment.untilShown('DU1', ['hello'], 30_000);
  taken.resolve();
  // Longer than the longest pause before a retry.
  await sleep(2_000);
  link.mend();
  await sleep(1_000);
  expect(deployment.chat.calls).toHaveLength(2);
  expect(deployment.textsIn('DU1')).toEqual(['hello']);
  await link.close();
}, 60_000);

test('a question that kills its workers ends with one apology, and the questions next to it are all answered [poison-question] [poison-turns]', async () => {
  let deaths = 0;
  deployment.chat.script(async (response, call) => {
    const question = questionOf(call);
    if (!question.includes('poison')) return says(counted(20), 50)(response, call);
    deaths += 1;
    return kills(response, call);
  });
  await deployment.startBot({ ROLES: 'receiver' });
  const endSupervision = supervise('one', 'two');
  await untilTrue(() => workers.size === 2);
  const innocents: string[] = [];
  const askInnocent = async () => {
    const userId = `UI${innocents.length}`;
    innocents.push(userId);
    await deployment.sender.direct(userId, 'an innocent question');
  };
  for (let count = 0; count < 6; count += 1) await askInnocent();
  await untilTrue(() => deployment.chat.calls.length >= 6);
  await deployment.sender.direct('UPOISON', 'poison');
  const startedMs = Date.now();
  while (deployment.textsIn('DUPOISON').length === 0) {
    if (Date.now() - startedMs > 160_000) throw new Error('there was no apology');
    await askInnocent();
    await sleep(4_000);
  }
  for (const userId of innocents) await deployment.untilShown(`D${userId}`, [counted(20).join(' ')], 40_000);
  await endSupervision();
  expect(deployment.textsIn('DUPOISON')).toEqual([expect.stringContaining('could not process')]);
  expect(deaths).toBeGreaterThanOrEqual(5);
  expect(deaths).toBeLessThanOrEqual(20);
  const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0);
  process.stdout.write(`poison-question: ${deaths} deaths, ${innocents.length} innocents answered, ${seconds} s\n`);
}, 260_000);

test('200 running answers recover without an apology while a worker is killed every two seconds for a minute [poison-turns]', async () => {
  deployment.chat.script(says(counted(40), 50));
  await deployment.startBot({ ROLES: 'receiver' });
  const endSupervision = supervise('one', 'two');
  await untilTrue(() => workers.size === 2);
  await Promise.all(workers.values());
  const people = Array.from({ length: 200 }, (_, index) => `U${index}`);
  for (const person of people) await deployment.sender.direct(person, 'count, please');
  for (let kill = 0; kill < 30; kill += 1) {
    await sleep(2_000);
    const worker = await [...workers.values()][kill % 2];
    worker?.kill('SIGKILL');
  }
  const lastKillMs = Date.now();
  const whole = counted(40).join(' ');
  const wholeAtMs = new Map<string, number>();
  while (wholeAtMs.size < people.length) {
    if (Date.now() - lastKillMs > 120_000) throw new Error(`${wholeAtMs.size} of ${people.length} answers are whole`);
    for (const person of people)
      if (!wholeAtMs.has(person) && deployment.textsIn(`D${person}`).includes(whole)) wholeAtMs.set(person, Date.now());
    await sleep(50);
  }
  await endSupervision();
  for (const person of people) expect(deployment.textsIn(`D${person}`)).toEqual([whole]);
  const afterMs = [...wholeAtMs.values()].map((atMs) => atMs - lastKillMs).sort((a, b) => a - b);
  process.stdout.write(`killed every 2 s: p50 ${afterMs[99]} ms, p99 ${afterMs[197]} ms after the last kill\n`);
}, 260_000);

test('one poison question among 200 is dead-lettered alone, and all others are answered [poison-question] [poison-turns]', async () => {
  deployment.chat.script(async (response, call) =>
    questionOf(call).includes('poison') ? kills(response, call) : says(counted(20), 50)(response, call),
  );
  await deployment.startBot({ ROLES: 'receiver' });
  const endSupervision = supervise('one', 'two');
  await untilTrue(() => workers.size === 2);
  await Promise.all(workers.values());
  const people = Array.from({ length: 200 }, (_, index) => `U${index}`);
  const startedMs = Date.now();
  for (const person of people) await deployment.sender.direct(person, person === 'U100' ? 'poison' : 'count, please');
  const whole = counted(20).join(' ');
  const wholeAtMs = new Map<string, number>();
  while (wholeAtMs.size < 199 || deployment.textsIn('DU100').length === 0) {
    if (Date.now() - startedMs > 120_000) throw new Error(`${wholeAtMs.size} of 199 answers are whole`);
    for (const person of people)
      if (!wholeAtMs.has(person) && deployment.textsIn(`D${person}`).includes(whole)) wholeAtMs.set(person, Date.now());
    await sleep(50);
  }
  await endSupervision();
  for (const person of people)
    expect(deployment.textsIn(`D${person}`)).toEqual([
      person === 'U100' ? expect.stringContaining('could not process') : whole,
    ]);
  const afterMs = [...wholeAtMs.values()].map((atMs) => atMs - startedMs).sort((a, b) => a - b);
  process.stdout.write(`poison among 200: p50 ${afterMs[99]} ms, p99 ${afterMs[196]} ms\n`);
}, 260_000);

test('an uncaught error is logged without its secrets and ends the process with exit code 1 [crash-on-the-unexpected]', async () => {
  const bot = await deployment.startProcess({
    NODE_OPTIONS: `--import=${new URL('../support/throw-on-signal.mjs', import.meta.url).pathname}`,
  });
  bot.kill('SIGUSR2');
  expect(await bot.ended).toBe(1);
  const output = bot.output();
  expect(output).toContain('Parley stops because of an unexpected error');
  expect(output).toContain('boom with access_token=[removed]');
  expect(output).not.toContain('canary');
});
