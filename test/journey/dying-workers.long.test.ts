import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, sse, type Answer } from '../chat/scripted-chat-server.ts';
import type { ParleyProcess } from '../support/parley-process.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

// Real workers that really die. Each has a key of its own for the chat service, which so knows who asks.

const deployment = useSlackDeployment();
const workers = new Map<string, ParleyProcess>();

const keyOf = (name: string) => `sk-${name}-0123456789`;
async function startWorker(name: string): Promise<void> {
  workers.set(
    `Bearer ${keyOf(name)}`,
    await deployment.startProcess({ ROLES: 'worker', CHAT_API_KEY: keyOf(name), WORKER_CONCURRENCY: '8' }),
  );
}
type Call = Parameters<Answer>[1];
const askerOf = ({ authorization = '' }: Call) => workers.get(authorization);
const questionOf = ({ body }: Call) => JSON.stringify((body['messages'] as object[]).at(-1));

/** Says words one after another until they are over or the caller is gone. */
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

test('a killed worker’s turn goes on elsewhere within 20 s, in the same message [worker-killed] [quick-takeover]', async () => {
  deployment.chat.script(says(counted(60), 40));
  await deployment.startBot({ ROLES: 'receiver' });
  await startWorker('one');
  await startWorker('two');
  await deployment.sender.direct('U1', 'count, please');
  await untilTrue(() => deployment.textsIn('DU1').length === 1);
  const [first] = deployment.chat.calls;
  if (first) askerOf(first)?.kill('SIGKILL');
  const killedMs = Date.now();
  await untilTrue(() => deployment.chat.calls.length === 2, 30_000);
  const tookMs = Date.now() - killedMs;
  expect(askerOf(deployment.chat.calls[1] as Call)).not.toBe(first && askerOf(first));
  expect(tookMs).toBeLessThan(20_000);
  await deployment.untilShown('DU1', [counted(60).join(' ')], 20_000);
  process.stdout.write(`worker-killed: asked again ${(tookMs / 1_000).toFixed(1)} s after the kill\n`);
}, 60_000);

test('a worker that was frozen past its lock and wakes writes nothing, and ends its model call [worker-frozen] [fence]', async () => {
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
  const [frozen] = workers.values();
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

test('a question that kills its workers ends with one apology after five; those beside it are all answered [poison-question] [poison-turns]', async () => {
  let kills = 0;
  const over = new AbortController();
  const restarts: Promise<void>[] = [];
  deployment.chat.script((response, call) => {
    const question = questionOf(call);
    if (!question.includes('poison')) return says(counted(20), 50)(response, call);
    kills += 1;
    askerOf(call)?.kill('SIGKILL');
  });
  /** As a supervisor does: what dies is started again. */
  const supervise = async (name: string): Promise<void> => {
    while (!over.signal.aborted) {
      await startWorker(name);
      const isOver = sleep(300_000, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([workers.get(`Bearer ${keyOf(name)}`)?.ended, isOver]);
    }
  };
  await deployment.startBot({ ROLES: 'receiver' });
  restarts.push(supervise('one'), supervise('two'));
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
  over.abort();
  await Promise.all(restarts);
  expect(deployment.textsIn('DUPOISON')).toEqual([expect.stringContaining('set it aside')]);
  expect(kills).toBe(5);
  const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0);
  process.stdout.write(`poison-question: ${kills} kills, ${innocents.length} innocents answered, ${seconds} s\n`);
}, 260_000);

test('an error that nobody caught is logged without its secrets, and ends the process with 1 [crash-on-the-unexpected]', async () => {
  const bot = await deployment.startProcess({
    NODE_OPTIONS: `--import=${new URL('../support/throw-on-signal.mjs', import.meta.url).pathname}`,
  });
  bot.kill('SIGUSR2');
  expect(await bot.ended).toBe(1);
  const output = bot.output();
  expect(output).toContain('Parley cannot go on');
  expect(output).toContain('boom with access_token=[removed]');
  expect(output).not.toContain('canary');
});
