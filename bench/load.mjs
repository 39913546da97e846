import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const CONNECTIONS = 32;
/** Pause after each response, so that follow-up work ends and the next request finds the process idle. */
const PAUSE_MS = 10;

/**
 * Persistent connections that carry one request at a time. Requests are written as raw bytes, so that the load generator
 * costs less than the measured process.
 */
export function openConnections(url, count = CONNECTIONS) {
  const { hostname, port, pathname } = new URL(url);
  const all = new Set();
  let idle = [];
  const open = () => {
    const connection = openConnection(Number(port), hostname, () => {
      all.delete(connection);
      idle = idle.filter((other) => other !== connection);
    });
    all.add(connection);
    return connection;
  };
  const waiting = [];
  const bytesOf = ({ search, headers = {}, body }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return (
      `POST ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n` +
      `${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    );
  };
  return {
    /** @returns ms from the call to the response. @throws for any status but 200 */
    async send(delivery) {
      const startedMs = performance.now();
      // Opened on demand: a server closes unused connections.
      const connection =
        idle.pop() ?? (all.size < count ? open() : await new Promise((resolve) => waiting.push(resolve)));
      const status = await connection.send(bytesOf(delivery));
      const next = waiting.shift();
      if (next) next(connection);
      else idle.push(connection);
      if (status !== 200) throw new Error(`Answered with ${status}`);
      return performance.now() - startedMs;
    },
    close: () => all.forEach((connection) => connection.close()),
  };
}

function openConnection(port, host, closed) {
  const socket = connect({ port, host, noDelay: true });
  let answered;
  let failed;
  let seen = '';
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
    const headEnd = seen.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(seen)?.[1] ?? Number.NaN);
    const isWhole = Number.isNaN(length) ? seen.endsWith('0\r\n\r\n') : seen.length >= headEnd + 4 + length;
    if (!isWhole) return;
    const status = Number(seen.slice(9, 12));
    seen = '';
    answered(status);
  });
  socket.on('error', (error) => failed?.(error));
  socket.on('close', () => {
    closed();
    failed?.(new Error('The connection was closed'));
  });
  return {
    send: (bytes) =>
      new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
        socket.write(bytes);
      }),
    close: () => socket.destroy(),
  };
}

async function withConnections(url, count, run) {
  const connections = openConnections(url, count);
  try {
    return await run(connections.send);
  } finally {
    connections.close();
  }
}

/** Sends requests one after another. @returns each response time in ms. The first tenth is warm-up and is left out. */
export function sendInTurn(url, deliveries) {
  return withConnections(url, 1, async (deliver) => {
    const times = [];
    for (const delivery of deliveries) {
      times.push(await deliver(delivery));
      await pause(PAUSE_MS);
    }
    return times.slice(Math.floor(times.length / 10));
  });
}

/** Sends requests as fast as possible over 32 connections. @returns responses per second. */
export function sendMany(url, deliveries) {
  return withConnections(url, CONNECTIONS, async (deliver) => {
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

/**
 * Sends requests at a fixed rate, regardless of the responses. @returns each response time in ms, counted from the scheduled
 * time.
 */
export function sendAtRate(url, deliveries, { perSecond }) {
  return withConnections(url, CONNECTIONS, async (deliver) => {
    const startedMs = performance.now();
    const times = [];
    const sending = [];
    for (const [index, delivery] of deliveries.entries()) {
      const dueMs = startedMs + (index * 1_000) / perSecond;
      if (dueMs > performance.now()) await pause(dueMs - performance.now());
      const sentMs = performance.now();
      // A delay of the load generator itself does not count.
      sending.push(deliver(delivery).then(() => times.push(performance.now() - sentMs)));
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

/** Rounds for display, to a maximum number of decimals. */
export function rounded(value, digits = 2) {
  return Number(value.toFixed(digits));
}
