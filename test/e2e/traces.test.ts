import { expect, test } from '@jest/globals';
import { helloStream, startScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startDeployment, untilTrue } from '../support/deployment.ts';

type Line = Record<string, unknown>;

function linesOf(parley: ParleyProcess): Line[] {
  const lines = parley.output().split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line);
}

test('one trace id links the delivery, the worker and the call of the chat service, and each line names its process', async () => {
  const chat = await startScriptedChatServer();
  chat.script(helloStream('Hello.'));
  const deployment = await startDeployment({ startsBot: false, env: { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl } });
  const running: ParleyProcess[] = [];
  const start = async (env: Record<string, string>) => {
    const parley = await startParleyProcess({ env: { ...deployment.env, ...env }, until: /is running|has started/ });
    running.push(parley);
    return parley;
  };
  try {
    const receiver = await start({ ROLES: 'receiver' });
    const worker = await start({ ROLES: 'worker', PORT: String(await freePort()), HOSTNAME: 'worker-1' });
    await untilTrue(() => deployment.messenger.driver.isBotReachable());
    const message = await deployment.messenger.driver.send('zhangwei', 'A question of one person');
    await deployment.messenger.driver.waitForAnswer(message.id, { timeoutMs: 20_000 });
    await untilTrue(async () => linesOf(worker).some(({ msg }) => msg === 'turn ended'));
    const trace = chat.calls[0]?.requestId;
    expect(trace).toMatch(/^[0-9a-f]{40}$/);
    expect(linesOf(receiver).filter((line) => line['trace'] === trace)).toContainEqual(
      expect.objectContaining({ msg: 'delivery answered', outcome: 'accepted', role: 'receiver' }),
    );
    const ofWorker = linesOf(worker).filter((line) => line['trace'] === trace);
    expect(ofWorker.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['chat call ended', 'turn ended']));
    const instances = new Set(linesOf(worker).map(({ instance }) => instance));
    expect([...instances]).toEqual([expect.stringMatching(/^worker-1-[0-9a-f]{6}$/)]);
    expect(linesOf(receiver)[0]?.['instance']).not.toBe([...instances][0]);
    // Polls and health checks belong to no question.
    expect(linesOf(receiver).filter((line) => line['outcome'] === 'polled' && 'trace' in line)).toEqual([]);
  } finally {
    for (const parley of running) parley.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    await deployment.stop();
    await chat.stop();
  }
}, 60_000);

test('each call to the chat service carries the id of its message, and each snapshot is a span of its turn', async () => {
  const chat = await startScriptedChatServer();
  const collector = await startOtlpReceiver();
  chat.script(helloStream('Hello.'));
  const deployment = await startDeployment({
    env: { SIGN_IN: 'off', CHAT_BASE_URL: chat.baseUrl, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  try {
    for (const question of ['One', 'Two']) {
      const message = await deployment.messenger.driver.send('zhangwei', question);
      await deployment.messenger.driver.waitForAnswer(message.id, { timeoutMs: 20_000 });
    }
    const ids = chat.calls.map(({ requestId }) => requestId);
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{40}$/), expect.stringMatching(/^[0-9a-f]{40}$/)]);
    expect(new Set(ids).size).toBe(2);
    const linesNow = () => deployment.lines.map((line) => JSON.parse(line) as Line);
    await untilTrue(() => linesNow().filter(({ msg }) => msg === 'turn ended').length === 2);
    const lines = linesNow();
    for (const msg of ['delivery answered', 'chat call ended', 'turn ended'])
      expect(lines.filter((line) => line['msg'] === msg && 'trace' in line).map(({ trace }) => trace)).toEqual(ids);
    await deployment.stopBot();
    const turns = collector.spans.filter(({ name }) => name === 'turn');
    expect(turns.map(({ attributes }) => attributes['parley.delivery'])).toEqual(ids);
    const snapshots = collector.spans.filter(({ name }) => name === 'redis.show');
    for (const { spanId, traceId } of turns)
      expect(snapshots).toContainEqual(expect.objectContaining({ traceId, parentId: spanId }));
  } finally {
    await deployment.stop();
    await chat.stop();
    await collector.stop();
  }
}, 60_000);
