import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { orderOf } from './engine-stand-in.mjs';

const STAMP = /"sentMs":([\d.]+)/g;

/** Opens streams at one address with rotating keys, because the number of open streams per key is limited. */
export function createStreamClient(baseUrl, keys) {
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin);
  let asked = 0;
  return {
    /** @returns ms until the first chunk arrived, and the transit time in ms of each further chunk from the engine */
    async read(order, signal) {
      asked += 1;
      if (signal) setMaxListeners(0, signal);
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys[asked % keys.length]}` };
      const body = JSON.stringify({
        model: 'svc-max',
        stream: true,
        messages: [{ role: 'user', content: orderOf(order) }],
      });
      const startedMs = performance.now();
      const answer = await pool.request({
        method: 'POST',
        path: `${pathname}/chat/completions`,
        headers,
        body,
        signal,
      });
      if (answer.statusCode !== 200) throw new Error(`Answered with ${answer.statusCode}: ${await answer.body.text()}`);
      let firstMs;
      const onTheWayMs = [];
      for await (const part of answer.body) {
        const nowMs = performance.now();
        for (const [, sentMs] of part.toString('latin1').matchAll(STAMP)) {
          if (firstMs === undefined) firstMs = nowMs - startedMs;
          else onTheWayMs.push(nowMs - Number(sentMs));
        }
      }
      if (onTheWayMs.length !== order.chunks - 1 && !signal?.aborted)
        throw new Error(`Only ${onTheWayMs.length + 1} of ${order.chunks} chunks came`);
      return { firstMs, onTheWayMs };
    },
    close: () => pool.destroy(),
  };
}

/** Streams one after another. */
export async function readInTurn(client, order, times) {
  const read = [];
  for (let round = 0; round < times; round += 1) read.push(await client.read(order));
  return read;
}

/** Concurrent streams that start 13 ms apart, so that neither their starts nor their chunks come in bursts. */
export function readAtOnce(client, order, times) {
  return Promise.all(
    Array.from({ length: times }, async (_, index) => {
      await pause(index * 13);
      return client.read(order);
    }),
  );
}
