import type { Registry } from 'prom-client';
import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { MICROS } from '../../shared/models/cost.ts';
import { counter, durations, gauge, QUICK_BUCKETS_SEC, SLOW_BUCKETS_SEC } from './instruments.ts';
import type { AnswerReport } from './report.ts';

export function reportAnswers(registry: Registry, log: Log): AnswerReport {
  const slow = { bucketsSec: SLOW_BUCKETS_SEC, labels: ['platform'] } as const;
  const turns = durations(registry, {
    name: 'turn_duration_seconds',
    help: 'Time from the start of a turn to its visible outcome; the count by outcome is the number of turns',
    labels: ['platform', 'outcome'],
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const waits = durations(registry, {
    name: 'turn_wait_seconds',
    help: 'Time from a message to the start of its turn',
    ...slow,
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const firstTexts = durations(registry, {
    name: 'first_text_seconds',
    help: 'Time from a message to the first text of its answer',
    ...slow,
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const refusals = counter(registry, {
    name: 'access_refusals_total',
    help: 'Questions refused by the policy: because of the person, in a private chat, or in a group',
    labels: ['platform', 'because'],
  });
  const moderations = counter(registry, {
    name: 'moderation_total',
    help: 'Questions (prompt) and answers that were blocked by words or by the service, or not checked because it was away',
    labels: ['kind', 'by', 'result'],
  });
  const pauses = gauge(registry, {
    name: 'current_pauses',
    help: 'Pauses by administrators that are in force: of everything, platforms, groups and models',
  });
  let paused = '';
  const costs = counter(registry, {
    name: 'model_cost_total',
    help: 'Cost of questions by model and currency, at the prices of MODELS_FILE',
    labels: ['model', 'currency'],
  });
  const handovers = counter(registry, {
    name: 'replies_handed_over_total',
    help: 'Answers delivered another way than the live reply',
    labels: ['platform', 'result'],
  });
  const refused = counter(registry, {
    name: 'platform_calls_unauthorised_total',
    help: "Calls that a platform refuses until the operator fixes the app (token, scopes), by the platform's code",
    labels: ['platform', 'code'],
  });
  const kept = counter(registry, {
    name: 'answers_kept_total',
    help: 'Attempts to post complete answers that are kept because the platform refuses all calls',
    labels: ['platform'],
  });
  const writes = counter(registry, {
    name: 'platform_writes_refused_total',
    help: "Posts, edits and uploads that a platform did not carry out, by the platform's method and code",
    labels: ['platform', 'method', 'code'],
  });
  const notShown = counter(registry, {
    name: 'answers_not_shown_total',
    help: 'Answers that the platform refused in every form; the person gets a notice where one can be shown',
    labels: ['platform'],
  });
  const saidMs = new Map<string, number>();
  const isDue = (key: string) => {
    const lastMs = saidMs.get(key) ?? Number.NEGATIVE_INFINITY;
    const due = monotonicMs() - lastMs >= MINUTE_MS;
    if (due) saidMs.set(key, monotonicMs());
    return due;
  };
  const tools = durations(registry, {
    name: 'tool_duration_seconds',
    help: 'Tool calls, by outcome',
    labels: ['tool', 'outcome'],
    bucketsSec: QUICK_BUCKETS_SEC,
  });
  return {
    accessRefused({ platform, turnId, person, because, rule }) {
      refusals({ platform, because });
      log.info(
        { audit: true, event: 'access-refused', trace: turnId, platform, person, because, rule },
        'the policy refused a question',
      );
    },
    moderated({ kind, by, isAllowed, turnId: trace }) {
      moderations({ kind, by, result: isAllowed ? 'allowed' : 'blocked' });
      const text = isAllowed ? 'a text was allowed unchecked' : 'a text was blocked';
      if (by === 'away') log.error({ trace, kind, by }, text);
      else log.info({ audit: true, event: 'moderated', trace, kind, by }, text);
    },
    costIncurred({ model, cost: { currency, micros } }) {
      costs({ model, currency }, micros / MICROS);
    },
    pausesRead({ targets }) {
      pauses(targets.length);
      const now = targets.join(' ');
      if (now !== paused) log.info({ audit: true, event: 'pauses-changed', targets }, 'the pauses changed');
      paused = now;
    },
    toolEnded({ turnId, tool, outcome, durationMs }) {
      tools({ tool, outcome }, durationMs);
      log.info({ trace: turnId, tool, outcome, durationMs }, 'tool ended');
    },
    turnEnded({ platform, turnId, outcome, durationMs, waitedMs }) {
      turns({ platform, outcome }, durationMs);
      waits({ platform }, waitedMs);
      log.info({ platform, trace: turnId, outcome, durationMs, waitedMs }, 'turn ended');
    },
    platformRefused({ platform, code }) {
      refused({ platform, code });
      if (!isDue(platform)) return;
      log.error(
        { platform, code },
        'the platform refuses all calls: correct the token, the secret or the permissions of the app; answers are stored until then',
      );
    },
    writeRefused({ platform, method, code, meaning }) {
      writes({ platform, method, code });
      const level = isDue(`${platform} ${method} ${code}`) ? 'warn' : 'debug';
      log[level](
        { platform, method, code, meaning },
        'the platform refused a write; Parley tries again or in another way',
      );
    },
    answerNotShown({ platform, deliveryId: trace }) {
      notShown({ platform });
      log.error({ platform, trace }, 'the platform refused an answer in every form, so it is not shown');
    },
    answerKept({ platform, deliveryId: trace }) {
      kept({ platform });
      log.debug({ platform, trace }, 'a complete answer is stored until the platform accepts calls');
    },
    firstTextShown({ platform, deliveryId: trace, afterMs }) {
      firstTexts({ platform }, afterMs);
      log.debug({ platform, trace, afterMs }, 'first text shown');
    },
    replyHandedOver({ platform, deliveryId: trace, result, way }) {
      handovers({ platform, result });
      const level = result === 'sent' ? 'info' : 'error';
      log[level]({ platform, trace, result, way }, 'an answer was delivered in another way than the live reply');
    },
  };
}
