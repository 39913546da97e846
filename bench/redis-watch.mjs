import { Cluster, Redis } from 'ioredis';

/**
 * Counts the Redis commands of a task: commands that clients send (each is part of a round trip), ours and BullMQ's
 * separately, and commands that scripts run.
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

/** By name: scanning a million stored keys for them would dominate the measurement. */
const PENDING_KEYS = Array.from({ length: 64 }, (_, partition) => `{p${partition}}:pending`);

/** Waits until no conversation waits for an answer, so that one section's backlog does not load the next. */
export async function untilAnswered(redisUrl) {
  const isCluster = redisUrl.includes(',');
  const client = isCluster ? new Cluster(redisUrl.split(',')) : new Redis(redisUrl);
  const groups = isCluster ? PENDING_KEYS.map((key) => [key]) : [PENDING_KEYS];
  const isPending = async () =>
    (await Promise.all(groups.map((keys) => client.exists(...keys)))).some((found) => found > 0);
  while (await isPending()) await new Promise((resolve) => setTimeout(resolve, 50));
  client.disconnect();
}

/** Memory in use, and bytes received and sent so far. */
export async function redisBytes(redisUrl) {
  const client = new Redis(redisUrl);
  const text = (await client.info('memory')) + (await client.info('stats'));
  client.disconnect();
  const of = (field) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1]);
  return { used: of('used_memory'), received: of('total_net_input_bytes'), sent: of('total_net_output_bytes') };
}
