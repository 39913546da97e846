import { Registry } from 'prom-client';
import { createReport } from '../metrics/metrics.ts';
import { registerRunningTurns } from '../metrics/gauges.ts';
import { asError } from '../../shared/coded-error.ts';
import { configureProxy } from '../../shared/http/proxy-config.ts';
import { Deferred } from '../../shared/deferred.ts';
import { createLog } from '../../shared/log.ts';
import { switchVerbosityOnSignal } from '../../shared/process/verbose-signal.ts';
import { ignoreDebuggerSignal } from '../../shared/process/stop-signals.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { createWorkerPart, type WorkerPart } from './worker.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import type { LocalHit, LocalQuery } from '../knowledge/index/local-index.ts';
import { SourceError } from '../knowledge/remote-source.ts';
import { RecentChanges } from '../identity/links/recent-changes.ts';
import type { FromWorker, ToWorker, WorkerQuestion, WorkerTask } from './worker-process/worker-messages.ts';
import { startTracing } from './tracing.ts';
import { healthOfWorker } from './worker-health.ts';
import { countsOf, sumOfMetrics } from './worker-process/process-metrics.ts';

/**
 * Program of a worker in a process of its own: local mode's worker, and quarantine. It receives everything over the channel to
 * the process that started it, and ends with that process, because nothing would replace it.
 */
const registry = new Registry();
let worker: WorkerPart | undefined;
let endTracing: (() => Promise<void>) | undefined;
const searches = new Map<number, Deferred<LocalHit[]>>();
let lastSearch = 0;
/** Messages are handled one at a time. */
let hearing = Promise.resolve();

function send(message: FromWorker): void {
  process.send?.(message, () => undefined);
}

async function begin({ config, secrets, name, deadNames, isQuarantine }: WorkerTask): Promise<void> {
  configureProxy({ ...secrets, noProxy: config.noProxy });
  const log = createLog({ ...config.log, role: 'worker' });
  switchVerbosityOnSignal(log);
  // After an uncaught error the state is unknown: a new process starts clean.
  const crash = (thrown: unknown) => {
    log.fatal({ error: asError(thrown) }, 'the worker process stops because of an unexpected error');
    process.exit(EXIT.crash);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  endTracing = await startTracing({ config, secrets, log });
  const report = createReport(registry, log);
  const recentLinks = new RecentChanges();
  const options = { config, secrets, nowMs: Date.now, recentLinks, log, report, workerName: name };
  worker = createWorkerPart({ ...options, quarantine: isQuarantine === true ? { searchParent } : undefined });
  if (isQuarantine !== true) registerRunningTurns(registry, () => worker?.worker.runningTurns ?? 0);
  send({ kind: 'ready', takenOver: await worker.reclaimFromDeadWorkers(deadNames) });
}

async function answerTo(question: WorkerQuestion): Promise<unknown> {
  if (question === 'running') return worker?.worker.runningTurns ?? 0;
  if (question === 'metrics')
    return sumOfMetrics([await registry.getMetricsAsJSON(), (await worker?.quarantineCounts()) ?? []]);
  const parts = worker ? healthOfWorker(worker) : [];
  return (await Promise.all(parts.map(({ isReady }) => isReady()))).every(Boolean) && parts.length > 0;
}

/** The index is the parent's: another one would take as much memory, and would not be ready in time. */
function searchParent(query: LocalQuery): Promise<LocalHit[]> {
  const id = (lastSearch += 1);
  const answer = new Deferred<LocalHit[]>();
  searches.set(id, answer);
  send({ kind: 'search', id, query });
  return answer.promise.finally(() => searches.delete(id));
}

function noteFound({ id, hits }: Extract<ToWorker, { kind: 'found' }>): void {
  if (hits) searches.get(id)?.resolve(hits);
  else searches.get(id)?.reject(new SourceError('away', 'The index is unavailable'));
}

function run(conversation: ConversationRef): void {
  const left = async () => {
    const counts = await countsOf(registry);
    send({ kind: 'left', conversationId: conversation.id, counts });
  };
  // After an error the sweeper wakes the conversation again.
  worker?.worker.runNow(conversation).then(left, left);
}

async function handleMessage(message: Exclude<ToWorker, { kind: 'ask' | 'run' | 'found' }>): Promise<void> {
  if (message.kind === 'begin') return begin(message.task);
  await worker?.close(message.graceSec);
  await endTracing?.();
  process.exit(EXIT.ok);
}

ignoreDebuggerSignal();
process.on('message', (message: ToWorker) => {
  if (message.kind === 'ask') {
    const { id } = message;
    // A question that fails gets no answer; the caller waits at most a second.
    answerTo(message.question).then(
      (value) => send({ kind: 'answer', id, value }),
      () => undefined,
    );
  } else if (message.kind === 'run') run(message.conversation);
  else if (message.kind === 'found') noteFound(message);
  else
    hearing = hearing
      .then(() => handleMessage(message))
      .catch((thrown: unknown) => send({ kind: 'failed', message: asError(thrown).message }));
});
process.on('disconnect', () => process.exit(EXIT.crash));
// A service manager may signal all processes of a service at once. Only the parent process decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
send({ kind: 'here' });
