import { Gauge, type Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { RedisMemory } from './redis-facts.ts';

/**
 * Registers the gauges of Redis' memory, which is read when `/metrics` is read. They have no value while Redis does not
 * answer within a second.
 */
export function registerRedisMemory(registry: Registry, read: () => Promise<RedisMemory>): void {
  let reading: Promise<RedisMemory | undefined> | undefined;
  // Both gauges are collected together and share one request; a request that hangs is not repeated.
  const readOnce = () => {
    const pending = (reading ??= read()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
    return withTimeout(pending, SECOND_MS).catch(() => undefined);
  };
  const add = (name: string, help: string, valueOf: (memory: RedisMemory) => number) =>
    new Gauge({
      ...{ name: `parley_${name}`, help, aggregator: 'max', registers: [registry] },
      async collect() {
        const memory = await readOnce();
        if (memory) this.set(valueOf(memory));
        else this.remove();
      },
    });
  const of = 'of Redis, on a cluster of the fullest master; the same in every process';
  add('redis_memory_bytes', `Memory in use ${of}`, ({ usedBytes }) => usedBytes);
  add('redis_memory_limit_bytes', `Memory limit (maxmemory) ${of}; 0 = none`, ({ maxBytes }) => maxBytes);
}
