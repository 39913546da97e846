import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connectRedis, type RedisClient, type RedisPatience } from '../../src/shared/redis/redis.ts';
import { recordingLog, startTestRedis, type TestRedis } from './redis.ts';

/** A Redis whose responses can get lost: it has executed the command, and the connection breaks before the response. */
export interface ForgetfulRedis {
  readonly server: TestRedis;
  /** A connection through the proxy that loses responses. */
  readonly redis: RedisClient;
  /** Responses since the last call of `lose`, including the lost one. */
  readonly answers: number;
  /** Loses the response with this number from now on; 0 for none. Waits until the connection works. */
  lose(answer: number): Promise<void>;
  /** Also restores the timers. */
  stop(): Promise<void>;
}

/** Deadlines of commands and requests are longer than this, pauses between attempts are shorter. */
const MIN_DEADLINE_MS = 1_000;
const MORE_TIME_MS = 60_000;

/**
 * A busy machine must not decide what these tests see: deadlines last a minute more, and periodic checks, whose response could
 * be the lost one, do not run. Both have tests of their own.
 * @returns a function that restores the timers
 */
function stopDeadlines(): () => void {
  const { setTimeout: startTimer, setInterval: startPeriod } = globalThis;
  const later = (run: () => void, ms = 0, ...args: []) =>
    startTimer(run, ms < MIN_DEADLINE_MS ? ms : ms + MORE_TIME_MS, ...args);
  const never = () => startTimer(() => undefined);
  Object.assign(globalThis, { setTimeout: later, setInterval: never });
  return () => Object.assign(globalThis, { setTimeout: startTimer, setInterval: startPeriod });
}

export async function startForgetfulRedis(patience: RedisPatience): Promise<ForgetfulRedis> {
  const server = await startTestRedis();
  const sockets = new Set<Socket>();
  let [answers, lost] = [0, 0];
  const proxy = createServer((near) => {
    const far = connect(Number(new URL(server.url).port), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      answers += 1;
      if (answers === lost) near.resetAndDestroy();
      else near.write(chunk);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  // Only now: the start of a server may need its own deadlines.
  const restoreTimers = stopDeadlines();
  const redis = connectRedis({ urls: [`redis://127.0.0.1:${port}/0`] }, patience, recordingLog().log, 'forgetful');
  return {
    server,
    redis,
    get answers() {
      return answers;
    },
    async lose(answer) {
      lost = 0;
      if (redis.status !== 'ready') await once(redis, 'ready');
      [answers, lost] = [0, answer];
    },
    async stop() {
      restoreTimers();
      redis.disconnect();
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await server.stop();
    },
  };
}

export interface LostAnswers<Ready> {
  /** Runs without faults. */
  prepare(): Promise<Ready>;
  act(ready: Ready): Promise<unknown>;
  tidy(): Promise<unknown>;
}

/**
 * Runs an action once without a fault, and then once for each response that it gets from Redis, losing that response.
 * @returns the result of each run: a value, or the message of the error
 */
export async function losingEachAnswer<Ready>(
  forgetful: ForgetfulRedis,
  { prepare, act, tidy }: LostAnswers<Ready>,
): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let [lost, count] = [0, 0]; lost <= count; lost += 1) {
    await forgetful.lose(0);
    const ready = await prepare();
    await forgetful.lose(lost);
    seen.push(await act(ready).catch(String));
    if (lost === 0) count = forgetful.answers;
    await forgetful.lose(0);
    await tidy();
  }
  return seen;
}
