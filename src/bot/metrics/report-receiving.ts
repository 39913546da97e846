import type { Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { WebhookReport } from '../ingress/webhook-report.ts';
import { census, counter, durations, QUICK_BUCKETS_SEC } from './instruments.ts';
import {
  describeLostConnection,
  describeRefusal,
  describeRefusedConnection,
  describeReplacedConnection,
} from './refusal-words.ts';

/** Outcomes that need attention. All others occur with every message and every poll. */
const LOG_LEVELS: Readonly<Record<string, 'warn' | 'info'>> = {
  'not-stored': 'warn',
  refused: 'info',
  'too-large': 'info',
  limited: 'info',
  full: 'info',
};

export function reportReceiving(registry: Registry, log: Log): WebhookReport {
  const labels = ['platform', 'kind', 'outcome'] as const;
  const deliveries = counter(registry, { name: 'deliveries_total', help: 'Deliveries from platforms', labels });
  const seconds = durations(registry, {
    name: 'delivery_duration_seconds',
    help: 'Time from the first byte of a delivery to its answer',
    labels: ['platform', 'kind'],
    bucketsSec: QUICK_BUCKETS_SEC,
  });
  const feedback = counter(registry, {
    name: 'feedback_total',
    help: 'Ratings of answers',
    labels: ['platform', 'verdict'],
  });
  const reasonsGiven = counter(registry, {
    name: 'feedback_reasons_total',
    help: 'Reasons for bad ratings of answers',
    labels: ['platform', 'reason'],
  });
  const changes = counter(registry, {
    name: 'connection_changes_total',
    help: 'State changes of the connections over which platforms deliver',
    labels: ['platform', 'state'],
  });
  const open = census(registry, {
    name: 'open_connections',
    help: 'Open connections of this process over which platforms deliver',
    label: 'platform',
  });
  const openBy = new Map<string, number>();
  const gaps = counter(registry, {
    name: 'connection_gap_seconds_total',
    help: 'Time without a known holder of a connection that only one process may hold',
    labels: ['platform'],
  });
  const lost = counter(registry, {
    name: 'lost_deliveries_total',
    help: 'Deliveries over a connection that could not be stored and are not sent again',
    labels: ['platform'],
  });
  const welcomes = counter(registry, { name: 'welcomes_total', help: 'Welcomes shown', labels: ['platform'] });
  return {
    deliveryReceived({ platform, kind, outcome, deliveryId: trace, durationMs, reason, offSec, sizeBytes }) {
      deliveries({ platform, kind, outcome });
      seconds({ platform, kind }, durationMs);
      if (reason === undefined) {
        log[LOG_LEVELS[outcome] ?? 'debug']({ platform, kind, outcome, trace, durationMs }, 'delivery answered');
        return;
      }
      const words = describeRefusal({ platform, reason, offSec, sizeBytes });
      log.info({ platform, kind, outcome, durationMs, offSec, sizeBytes }, `a delivery was refused: ${words}`);
    },
    deliveryVerified({ platform }) {
      log.info(
        { platform },
        'the first delivery since the start was verified: the secrets of the platform are correct',
      );
    },
    connectionChanged(change) {
      const { platform, state } = change;
      changes({ platform, state });
      openBy.set(platform, state === 'open' ? 1 : 0);
      open(openBy);
      if (state === 'open') {
        const { gapMs = 0 } = change;
        gaps({ platform }, gapMs / SECOND_MS);
        return log.info({ platform, gapMs }, 'the connection to the platform is open; it delivers here');
      }
      if (state === 'standby') return log.debug({ platform }, 'another process holds the connection to the platform');
      if (state === 'replaced') {
        const { level, restMs } = change;
        const { isRival, words } = describeReplacedConnection(level);
        return log[isRival ? 'error' : 'warn']({ platform, times: level, restMs }, words);
      }
      const { reason } = change;
      if (state === 'closed') return log.warn({ platform, reason }, describeLostConnection(reason));
      log.error({ platform, reason }, describeRefusedConnection(platform));
    },
    deliveryLost({ platform, reason }) {
      lost({ platform });
      log.error(
        { platform, reason },
        'a message is lost: it could not be stored, and the platform does not send it again',
      );
    },
    feedbackGiven({ platform, verdict, reasons, isDetail, deliveryId: trace }) {
      if (!isDetail) feedback({ platform, verdict });
      for (const reason of reasons) reasonsGiven({ platform, reason });
      log.info({ platform, verdict, reasons, trace }, 'an answer was rated');
    },
    welcomeSent({ platform }) {
      welcomes({ platform });
      log.debug({ platform }, 'welcome shown');
    },
  };
}
