import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';

const HEADERS = { 'content-type': 'application/json' };
const CONNECTIONS = 32;

async function send(pool, path, { search, body }) {
  const startedMs = performance.now();
  const answer = await pool.request({ method: 'POST', path: path + search, headers: HEADERS, body });
  await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`Answered with ${answer.statusCode}`);
  return performance.now() - startedMs;
}

async function withPool(url, connections, run) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections });
  try {
    return await run((delivery) => send(pool, pathname, delivery));
  } finally {
    await pool.close();
  }
}

/** A pause after each answer lets what it started end, so that the next finds the process idle. */
const PAUSE_MS = 10;

/** One after another, alone; @returns each answer's time in ms. The first tenth warms up and is left out. */
export function sendInTurn(url, deliveries) {
  return withPool(url, 1, async (deliver) => {
    const times = [];
    for (const delivery of deliveries) {
      times.push(await deliver(delivery));
      await pause(PAUSE_MS);
    }
    return times.slice(Math.floor(times.length / 10));
  });
}

/** As fast as 32 connections carry them; @returns answers per second. */
export function sendMany(url, deliveries) {
  return withPool(url, CONNECTIONS, async (deliver) => {
    const startedMs = performance.now();
    const waiting = deliveries.values();
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        for (const delivery of waiting) await deliver(delivery);
      }),
    );
    return (deliveries.length / (performance.now() - startedMs)) * 1_000;
  });
}

/** At a fixed rate, whatever the answers do; @returns each answer's time in ms, counted from when it was due. */
export function sendAtRate(url, deliveries, { perSecond }) {
  return withPool(url, CONNECTIONS, async (deliver) => {
    const startedMs = performance.now();
    const times = [];
    const sending = [];
    for (const [index, delivery] of deliveries.entries()) {
      const dueMs = startedMs + (index * 1_000) / perSecond;
      if (dueMs > performance.now()) await pause(dueMs - performance.now());
      sending.push(deliver(delivery).then(() => times.push(performance.now() - dueMs)));
    }
    await Promise.all(sending);
    return times;
  });
}

export function percentile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values) {
  return percentile(values, 0.5);
}
