// A document reader under control of a document: it tries forbidden actions, and returns those that worked.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { serveOrders } from '../../src/shared/process/serve-orders.mjs';

serveOrders(async ({ bytes }) => {
  const { secretFile, newFile } = JSON.parse(bytes.toString());
  const tries = {
    'the environment of its parent': () => readFileSync(`/proc/${process.ppid}/environ`, 'latin1'),
    'its own environment': () => {
      if (!Object.keys(process.env).some((name) => name.includes('SECRET'))) throw new Error('none');
    },
    'a file of settings': () => readFileSync(secretFile),
    'the users of the machine': () => readFileSync('/etc/passwd'),
    'a file of its own': () => writeFileSync(newFile, 'x'),
    'a program': () => execFileSync('/bin/true'),
    'a worker thread': () => new Worker('', { eval: true }),
  };
  return Object.entries(tries).flatMap(([name, attempt]) => {
    try {
      attempt();
      return [name];
    } catch {
      return [];
    }
  });
});
