const endings = new Set<() => void>();

/**
 * Registers a cleanup for when the testbed exits in any way, so that it leaves no process behind. @returns a function that
 * unregisters it
 */
export function atExit(end: () => void): () => void {
  if (endings.size === 0) listenOnce();
  endings.add(end);
  return () => void endings.delete(end);
}

let isListening = false;

function listenOnce(): void {
  if (isListening) return;
  isListening = true;
  process.once('exit', () => {
    for (const end of endings) end();
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => {
      process.stderr.write(`ended by ${signal}\n`);
      process.exit(1);
    });
}
