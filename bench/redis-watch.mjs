import { Redis } from 'ioredis';

/**
 * Counts what one piece of work asks of Redis: commands that clients send (each is part of a round trip), ours and BullMQ's
 * apart, and commands that scripts run inside.
 */
export async function countCommands(redisUrl, work) {
  const client = new Redis(redisUrl);
  const monitor = await client.monitor();
  const counts = { ours: 0, bullmq: 0, inScripts: 0 };
  const names = new Map();
  monitor.on('monitor', (_time, args, source) => {
    if (source === 'lua') return void (counts.inScripts += 1);
    const key = /^eval/i.test(args[0]) ? args[3] : args[1];
    const isBullmq = /^(\{wake\d+\}|bull:)/.test(key ?? '');
    counts[isBullmq ? 'bullmq' : 'ours'] += 1;
    const name = `${isBullmq ? 'bullmq' : 'ours'} ${args[0]}`;
    names.set(name, (names.get(name) ?? 0) + 1);
  });
  const times = await work();
  await new Promise((resolve) => setTimeout(resolve, 200));
  monitor.disconnect();
  client.disconnect();
  const each = Object.fromEntries(Object.entries(counts).map(([kind, count]) => [kind, count / times]));
  return { ...each, names: Object.fromEntries([...names].map(([name, count]) => [name, count / times])) };
}

/** By name: to search a million remembered keys for them would be the greater part of what is measured. */
const PENDING_KEYS = Array.from({ length: 64 }, (_, partition) => `{p${partition}}:pending`);

/** Waits until nothing waits for an answer any more, so that one section's backlog is not the next one's load. */
export async function untilAnswered(redisUrl) {
  const client = new Redis(redisUrl);
  while ((await client.exists(...PENDING_KEYS)) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  client.disconnect();
}
