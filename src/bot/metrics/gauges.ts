import type { Server } from 'node:http';
import { Gauge, type Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { WaitingQuestions } from '../queue/waiting-questions.ts';
import type { RedisMemory } from './redis-facts.ts';

// Gauges that are read when `/metrics` is read.

/** Registers the gauge of running turns. Every worker has it, so that its absence shows that no worker is alive. */
export function registerRunningTurns(registry: Registry, count: () => number): void {
  new Gauge({
    name: 'parley_running_turns',
    help: 'Turns that run in this process now; only workers have this metric',
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}

/** Registers the number of open connections to the servers of the bot. */
export function registerHttpConnections(registry: Registry, servers: readonly Server[]): void {
  new Gauge({
    name: 'parley_http_connections',
    help: 'Open connections to the HTTP ports of this process',
    registers: [registry],
    async collect() {
      const counts = await Promise.all(servers.map(connectionsOf));
      this.set(counts.reduce((sum, count) => sum + count, 0));
    },
  });
}

function connectionsOf(server: Server): Promise<number> {
  // A closed server has none.
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

/** Registers the gauges of the waiting questions. They have no value while the count is unknown. */
export function registerWaitingQuestions(
  registry: Registry,
  count: () => Promise<Pick<WaitingQuestions, 'waiting' | 'longestMs'> | undefined>,
): void {
  const add = sharedGauges(registry, count);
  const shared = 'the same in every process';
  add('waiting_questions', `Messages that wait for an answer; ${shared}`, ({ waiting }) => waiting);
  add(
    'longest_question_wait_seconds',
    `How long the oldest waiting message waits; ${shared}`,
    ({ longestMs }) => longestMs / SECOND_MS,
  );
}

/** Registers the gauges of Redis' memory. They have no value while Redis does not answer within a second. */
export function registerRedisMemory(registry: Registry, read: () => Promise<RedisMemory>): void {
  let reading: Promise<RedisMemory | undefined> | undefined;
  // Both gauges are collected together and share one request; a request that hangs is not repeated.
  const add = sharedGauges(registry, () => {
    const pending = (reading ??= read()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
    return withTimeout(pending, SECOND_MS).catch(() => undefined);
  });
  const of = 'of Redis, on a cluster of the fullest master; the same in every process';
  add('redis_memory_bytes', `Memory in use ${of}`, ({ usedBytes }) => usedBytes);
  add('redis_memory_limit_bytes', `Memory limit (maxmemory) ${of}; 0 = none`, ({ maxBytes }) => maxBytes);
}

/** Creates gauges that have the same value in every process, and none while `read` returns undefined. */
function sharedGauges<Value>(registry: Registry, read: () => Promise<Value | undefined>) {
  return (name: string, help: string, valueOf: (value: Value) => number) =>
    new Gauge({
      ...{ name: `parley_${name}`, help, aggregator: 'max', registers: [registry] },
      async collect() {
        const value = await read();
        if (value === undefined) this.remove();
        else this.set(valueOf(value));
      },
    });
}
