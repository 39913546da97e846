// Starts a worker process that blocks its event loop, and prints its process id.
import { WorkerProcess } from '../../../dist-modules/bot/app/worker-process/worker-process.js';

const child = new WorkerProcess(new URL('./silent-process.mjs', import.meta.url), { name: 'blocked' });
await child.ready;
child.run('spin');
process.stdout.write(String(child.processId));
