const endings = new Set<() => void>();

/** Done when the rig itself ends, however it is asked to, so that it leaves no process behind. @returns what takes it back */
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
