import { setTimeout as pause } from 'node:timers/promises';
import { openConnections } from './load.mjs';

const CONNECTIONS = 64;
/** Maximum duration of a conversation. */
const GIVE_UP_MS = 120_000;

/** Sends events and records their progress with one clock until the whole answer is visible. */
export function createConversations() {
  const open = new Map();
  const heard = (id, what) => {
    const conversation = open.get(id);
    if (!conversation) return;
    conversation.moments[what] ??= performance.now();
    if (what !== 'final') return;
    open.delete(id);
    conversation.end(conversation.moments);
  };
  const begin = (connections, event, isRequired = true) => {
    let end;
    const ended = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (isRequired)
          reject(new Error(`No whole answer to ${event.id}: ${JSON.stringify(open.get(event.id)?.moments)}`));
        else resolve(open.get(event.id)?.moments ?? {});
      }, GIVE_UP_MS);
      end = (moments) => (clearTimeout(timer), resolve(moments));
    });
    // All that wait fail at about the same time; only the first failure is awaited.
    ended.catch(() => undefined);
    open.set(event.id, { moments: { sent: performance.now() }, end });
    return { acked: connections.send(event), ended };
  };
  return {
    heard,
    /**
     * Runs a fixed number of conversations concurrently; the next one starts when one has ended. @returns each one's
     * timestamps, in ms of one clock
     */
    async run(url, events, atOnce) {
      const connections = openConnections(url, Math.min(atOnce, CONNECTIONS));
      const waiting = events.values();
      const seen = [];
      try {
        await Promise.all(
          Array.from({ length: atOnce }, async () => {
            for (const event of waiting) {
              const { acked, ended } = begin(connections, event);
              await acked;
              seen.push(await ended);
            }
          }),
        );
      } finally {
        connections.close();
      }
      return seen;
    },
    /** Starts a fixed number per second, however long they take. */
    runAtRate(url, events, perSecond) {
      return this.runAtTimes(
        url,
        events.map((event, index) => ({ event, dueMs: (index * 1_000) / perSecond })),
      );
    },
    /** Starts each event at its time, however long they take. An answer that does not become whole has no `final`. */
    async runAtTimes(url, events) {
      const connections = openConnections(url, CONNECTIONS);
      const acksMs = [];
      const startedMs = performance.now();
      const running = [];
      try {
        for (const { event, dueMs } of events) {
          const waitMs = startedMs + dueMs - performance.now();
          if (waitMs > 0) await pause(waitMs);
          const { acked, ended } = begin(connections, event, false);
          running.push(
            ended,
            acked.then((ackMs) => acksMs.push(ackMs)),
          );
        }
        const all = await Promise.all(running);
        return { acksMs, seen: all.filter((_, index) => index % 2 === 0) };
      } finally {
        connections.close();
      }
    },
  };
}
