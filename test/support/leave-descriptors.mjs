// Loaded into a process before it starts (`node --import`): SIGUSR2 makes it use up all file descriptors except this number.
import { closeSync, openSync } from 'node:fs';

const FREE = 20;
process.on('SIGUSR2', () => {
  const taken = [];
  try {
    for (;;) taken.push(openSync('/dev/null'));
  } catch {
    for (const descriptor of taken.slice(-FREE)) closeSync(descriptor);
  }
  process.stdout.write(`descriptors taken: ${taken.length - FREE}\n`);
});
