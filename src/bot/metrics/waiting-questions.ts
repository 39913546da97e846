import { Gauge, type Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import type { WaitingQuestions } from '../queue/waiting-questions.ts';

type Counted = Pick<WaitingQuestions, 'waiting' | 'longestMs'>;

/**
 * Registers the gauges of the waiting questions, which are counted when `/metrics` is read. They have no value while the
 * count is unknown.
 */
export function registerWaitingQuestions(registry: Registry, count: () => Promise<Counted | undefined>): void {
  const add = (name: string, help: string, valueOf: (counted: Counted) => number) =>
    new Gauge({
      ...{ name: `parley_${name}`, help, aggregator: 'max', registers: [registry] },
      async collect() {
        const counted = await count();
        if (counted) this.set(valueOf(counted));
        else this.remove();
      },
    });
  const shared = 'the same in every process';
  add('waiting_questions', `Messages that wait for an answer; ${shared}`, ({ waiting }) => waiting);
  add(
    'longest_question_wait_seconds',
    `How long the oldest waiting message waits; ${shared}`,
    ({ longestMs }) => longestMs / SECOND_MS,
  );
}
