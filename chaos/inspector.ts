import { once } from 'node:events';
import { WebSocket } from 'undici';

/** Node's inspector of a process that was started with `--inspect=127.0.0.1:0`, so the product needs no interface for it. */
export interface Inspector {
  /** Two full collections: the second one frees what finalizers of the first one released. */
  collectGarbage(): Promise<void>;
  heapUsedBytes(): Promise<number>;
  /** The value of an expression in the process, passed as JSON. @throws Error if it throws there */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Answer {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

const ANSWER_LIMIT_MS = 30_000;

/** @param url as printed by the process: `ws://127.0.0.1:PORT/ID` @throws Error if there is no response */
export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  await once(socket, 'open', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  const call = async (method: string, params: object = {}) => {
    calls += 1;
    const id = calls;
    const answer = await new Promise<Answer>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} was not answered in time`)), ANSWER_LIMIT_MS);
      waiting.set(id, (given) => {
        clearTimeout(late);
        waiting.delete(id);
        resolve(given);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result ?? {};
  };
  return {
    async collectGarbage() {
      await call('HeapProfiler.collectGarbage');
      await call('HeapProfiler.collectGarbage');
    },
    heapUsedBytes: async () => Number((await call('Runtime.getHeapUsage'))['usedSize']),
    async evaluate(expression) {
      const { result, exceptionDetails } = (await call('Runtime.evaluate', { expression, returnByValue: true })) as {
        result?: { value?: unknown };
        exceptionDetails?: { text: string };
      };
      if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.text}`);
      return result?.value;
    },
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
