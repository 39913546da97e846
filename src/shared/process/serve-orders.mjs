// What the programs of bounded processes have in common (bounded-process.ts). Such a program knows no key and no address,
// reads nothing but what it is sent, one order at a time, and ends with its parent. Plain JavaScript, so that a program may be
// the same file wherever it is started from.
import { readSync } from 'node:fs';

/** An order's bytes come by it, once the order itself is sent. */
const INPUT = 0;

/** So many bytes of the input, in one piece; there is nothing else to do until they are here. */
function readInput(sizeBytes) {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  for (let at = 0; at < sizeBytes;) {
    const count = readSync(INPUT, bytes, { offset: at });
    if (count === 0) process.exit();
    at += count;
  }
  return bytes;
}

/** Answers each order by what `handle` makes of it, which throws nothing. */
export function serveOrders(handle) {
  // Ctrl+C in a terminal, or a service manager, tells all processes at once, and whoever waits for an answer may still get it.
  // SIGUSR1 would open a debugger, by which one reader could look into another.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGUSR1']) process.on(signal, () => undefined);
  // What the program itself takes differs from one Node and machine to the next.
  const readyBytes = process.memoryUsage.rss();
  process.on('disconnect', () => process.exit());
  process.on('message', async ({ sizeBytes, ...wishes }) => {
    const bytes = readInput(sizeBytes);
    // From here on it is this order that ends the process, if something does.
    process.send('begun');
    const result = await handle({ ...wishes, bytes });
    process.send({ result, grownBytes: process.memoryUsage.rss() - readyBytes });
  });
}
