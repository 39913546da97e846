import { subscribe } from 'node:diagnostics_channel';
import type { Registry } from 'prom-client';
import { BOUNDED_PROCESS_ENDS, type BoundedProcessEnd } from '../../shared/process/sandboxed-process.ts';
import type { Log } from '../../shared/log.ts';
import { counter } from './instruments.ts';

/** Counts and logs the ends of the processes that read people's files and images. */
export function reportReaders(registry: Registry, log: Log): void {
  const ends = counter(registry, {
    name: 'reader_process_ends_total',
    help: 'Processes that ended while they read a file (documents) or an image (images), by whether another process tried again',
    labels: ['program', 'again'],
  });
  subscribe(BOUNDED_PROCESS_ENDS, (message) => {
    const { program, exitCode, signal, isTriedAgain } = message as BoundedProcessEnd;
    ends({ program, again: isTriedAgain ? 'yes' : 'no' });
    const facts = { program, exitCode, signal };
    if (isTriedAgain) log.warn(facts, 'a reader process ended during a job; another one retries it');
    else
      log.error(facts, 'a second reader process ended during the same job; the person is asked to send the file again');
  });
}
