import type { Registry } from 'prom-client';
import type { Log } from '../base/log.ts';
import { counter, durations, QUICK_BUCKETS_SEC, SLOW_BUCKETS_SEC } from './instruments.ts';
import type { AnswerReport } from './report.ts';

export function reportAnswers(registry: Registry, log: Log): AnswerReport {
  const slow = { bucketsSec: SLOW_BUCKETS_SEC, labels: ['platform'] } as const;
  const turns = durations(registry, {
    name: 'turn_duration_seconds',
    help: 'From a turn’s start to its visible outcome; the count by outcome is the number of turns',
    labels: ['platform', 'outcome'],
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const waits = durations(registry, {
    name: 'turn_wait_seconds',
    help: 'From a message to the start of its turn',
    ...slow,
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const firstTexts = durations(registry, {
    name: 'first_text_seconds',
    help: 'From a message to the first text of its answer',
    ...slow,
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const refusals = counter(registry, {
    name: 'access_refusals_total',
    help: 'Questions that the policy refused: because of the person, in a private chat, or in a group',
    labels: ['platform', 'because'],
  });
  const handovers = counter(registry, {
    name: 'replies_handed_over_total',
    help: 'Answers that went another way than the live reply',
    labels: ['platform', 'result'],
  });
  const tools = durations(registry, {
    name: 'tool_duration_seconds',
    help: 'Calls of tools, by how they ended',
    labels: ['tool', 'outcome'],
    bucketsSec: QUICK_BUCKETS_SEC,
  });
  return {
    accessRefused({ platform, person, because, rule }) {
      refusals({ platform, because });
      log.info(
        { audit: true, event: 'access-refused', platform, person, because, rule },
        'the policy refused a question',
      );
    },
    toolEnded({ tool, outcome, durationMs }) {
      tools({ tool, outcome }, durationMs);
      log.info({ tool, outcome, durationMs }, 'tool ended');
    },
    turnEnded({ platform, turnId, outcome, durationMs, waitedMs }) {
      turns({ platform, outcome }, durationMs);
      waits({ platform }, waitedMs);
      log.info({ platform, turnId, outcome, durationMs, waitedMs }, 'turn ended');
    },
    firstTextShown({ platform, afterMs }) {
      firstTexts({ platform }, afterMs);
      log.debug({ platform, afterMs }, 'first text shown');
    },
    replyHandedOver({ platform, result }) {
      handovers({ platform, result });
      log[result === 'sent' ? 'info' : 'warn']({ platform, result }, 'an answer went another way than the live reply');
    },
  };
}
