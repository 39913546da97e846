// Common part of the sandboxed programs (sandboxed-process.ts). Such a program has no keys or addresses, reads only its
// input, handles one order at a time, and exits with its parent. Plain JavaScript, so that the same file runs from src/ and
// dist/.
import { readSync } from 'node:fs';

/** Carries an order's bytes, after the order itself was sent. */
const INPUT = 0;

/** Reads this number of bytes from the input. Blocks, because there is no other work until they arrive. */
function readInput(sizeBytes) {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  for (let at = 0; at < sizeBytes;) {
    const count = readSync(INPUT, bytes, { offset: at });
    if (count === 0) process.exit();
    at += count;
  }
  return bytes;
}

/** Answers each order with the result of `handle`, which must not throw. */
export function serveOrders(handle) {
  // Ctrl+C in a terminal, or a service manager, signals all processes at once, but a caller may still wait for the answer.
  // SIGUSR1 would open a debugger, through which one reader could inspect another.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGUSR1']) process.on(signal, () => undefined);
  // Baseline: the memory of the program itself depends on the Node version and the machine.
  const readyBytes = process.memoryUsage.rss();
  process.on('disconnect', () => process.exit());
  process.on('message', async ({ sizeBytes, ...wishes }) => {
    const bytes = readInput(sizeBytes);
    // From here on, this order is responsible if the process ends.
    process.send('begun');
    const result = await handle({ ...wishes, bytes });
    process.send({ result, grownBytes: process.memoryUsage.rss() - readyBytes });
  });
}
