import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { VERSION } from '../../shared/version.ts';
import type { Log } from '../../shared/log.ts';
import type { Report } from './report.ts';
import { reportAnswers } from './report-answers.ts';
import { reportChat } from './report-chat.ts';
import { reportIdentity } from './report-identity.ts';
import { reportKnowledge } from './report-knowledge.ts';
import { reportQueue } from './report-queue.ts';
import { reportReceiving } from './report-receiving.ts';
import { subscribe } from 'node:diagnostics_channel';
import { SANDBOXED_PROCESS_EXITS, type SandboxedProcessExit } from '../../shared/process/sandboxed-process.ts';
import { counter } from './instruments.ts';

/**
 * Registers the metrics of the bot and the process (memory, CPU, event-loop lag), and returns the functions that update
 * them.
 */
export function createReport(registry: Registry, log: Log): Report {
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry);
  reportReaders(registry, log);
  return {
    ...reportReceiving(registry, log),
    ...reportAnswers(registry, log),
    ...reportQueue(registry, log),
    ...reportChat(registry, log),
    ...reportIdentity(registry),
    ...reportKnowledge(registry, log),
  };
}

/** A dashboard reads from the labels which versions run. */
function registerBuildInfo(registry: Registry): void {
  new Gauge({
    name: 'parley_build_info',
    help: 'Always 1; the labels are the version of Parley and of Node.js.',
    labelNames: ['version', 'node'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version: VERSION, node: process.versions.node }, 1);
}

/** Counts and logs the ends of the processes that read people's files and images. */
function reportReaders(registry: Registry, log: Log): void {
  const ends = counter(registry, {
    name: 'reader_process_ends_total',
    help: 'Processes that ended while they read a file (documents) or an image (images), by whether another process tried again',
    labels: ['program', 'again'],
  });
  subscribe(SANDBOXED_PROCESS_EXITS, (message) => {
    const { program, exitCode, signal, isTriedAgain } = message as SandboxedProcessExit;
    ends({ program, again: isTriedAgain ? 'yes' : 'no' });
    const facts = { program, exitCode, signal };
    if (isTriedAgain) log.warn(facts, 'a reader process ended during a job; another one retries it');
    else
      log.error(facts, 'a second reader process ended during the same job; the person is asked to send the file again');
  });
}
