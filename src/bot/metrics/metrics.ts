import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { VERSION } from '../../shared/version.ts';
import type { Log } from '../../shared/log.ts';
import type { Report } from './report.ts';
import { reportAnswers } from './report-answers.ts';
import { reportChat } from './report-chat.ts';
import { reportIdentity } from './report-identity.ts';
import { reportKnowledge } from './report-knowledge.ts';
import { reportReaders } from './report-readers.ts';
import { reportQueue } from './report-queue.ts';
import { reportReceiving } from './report-receiving.ts';

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
