import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach } from '@jest/globals';
import type { UpstreamOptions } from '../../src/service/upstream/engine-call.ts';
import { startEngine, type StandInEngine } from './stand-in-engine.ts';
import { API_KEY, NO_LIMITS, startTestService, type TestService } from './support.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

export const ENGINE_KEY = 'sk-upstream-secret';
export const HELLO = { model: 'svc-max', messages: [{ role: 'user', content: 'hello' }] };

interface Pair {
  engine: StandInEngine;
  service: TestService;
}

/**
 * Returns a function that starts an engine and a service in front of it; both end with the test. Call it once, outside of
 * tests.
 */
export function pairs(): (
  answer: (response: ServerResponse) => void,
  upstream?: Partial<UpstreamOptions>,
) => Promise<Pair> {
  const server = useTestRedis();
  const open: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
  });
  return async (answer, upstream = {}) => {
    const engine = await startEngine(answer);
    const service = await startTestService(server.redis, {
      chatLimits: NO_LIMITS,
      upstream: { url: engine.url, key: ENGINE_KEY, models: { 'svc-max': 'qwen3:8b' }, ...upstream },
    });
    open.push(
      () => service.close(),
      () => engine.stop(),
    );
    return { engine, service };
  };
}

/** Sends a request without reading or awaiting its answer; `leave` cuts the connection. */
export function ask(service: { url: string }, json: object): { answered: Promise<IncomingMessage>; leave: () => void } {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` };
  const asking = httpRequest(`${service.url}/v1/chat/completions`, { method: 'POST', headers, agent: false });
  const answered = once(asking, 'response').then(([answer]) => answer as IncomingMessage);
  asking.on('error', () => undefined);
  answered.catch(() => undefined);
  asking.end(JSON.stringify(json));
  return { answered, leave: () => void asking.destroy() };
}
