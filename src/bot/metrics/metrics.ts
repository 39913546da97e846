import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Log } from '../../shared/log.ts';
import type { Report } from './report.ts';
import { reportAnswers } from './report-answers.ts';
import { reportChat } from './report-chat.ts';
import { reportIdentity } from './report-identity.ts';
import { reportKnowledge } from './report-knowledge.ts';
import { reportReaders } from './report-readers.ts';
import { reportQueue } from './report-queue.ts';
import { reportReceiving } from './report-receiving.ts';

/** Registers the bot's metrics and the process's own (memory, CPU, event-loop lag), and gives the functions that move them. */
export function createReport(registry: Registry, log: Log): Report {
  collectDefaultMetrics({ register: registry });
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
