import type { Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { WebhookReport } from '../ingress/webhook-report.ts';
import { census, counter, durations, QUICK_BUCKETS_SEC } from './instruments.ts';
import { describePlatform } from '../platforms/registry.ts';
import type { PlatformName } from '../domain/platform-name.ts';

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

interface Refused {
  platform: PlatformName;
  reason: string;
  /** Difference between the delivery's time and the local clock. */
  offSec?: number;
  /** As declared by the sender. */
  sizeBytes?: number;
}

/** Tells the operator what to do if the platform refuses the secret of its connection. */
function describeRefusedConnection(platform: PlatformName): string {
  const [secret] = describePlatform(platform).connection?.credentials ?? [];
  return `the platform refuses the connection for deliveries: copy ${secret} from its console again, then restart; until then no messages arrive`;
}

/** Tells the operator why a connection was lost, and what to do if the cause is not the network. */
function describeLostConnection(reason: string): string {
  const words = 'the connection to the platform was lost; Parley reconnects';
  switch (reason) {
    case 'too_many_websockets':
      return `${words}: more programs are connected with this app than Slack allows (10): stop programs that are not part of this deployment`;
    case 'link_disabled':
      return `${words}: Socket Mode is disabled for this app: enable it in Slack's console`;
    default:
      return words;
  }
}

/** Consecutive replacements that indicate a second deployment instead of a short visit. */
const RIVAL_FROM = 3;

/** Tells the operator what to do when another program takes the bot's connection. */
function describeReplacedConnection(level: number): { isRival: boolean; words: string } {
  const isRival = level >= RIVAL_FROM;
  const words = isRival
    ? 'another program keeps connecting as this bot and receives its messages: stop it, or give it its own bot (two deployments must not share one bot); Parley reconnects after a pause'
    : 'another program connected as this bot and took over the connection; Parley reconnects after a pause';
  return { isRival, words };
}

/** Tells the operator why a delivery was refused and what to do if it was expected. Contains no text of the delivery. */
export function describeRefusal({ platform, reason, offSec, sizeBytes }: Refused): string {
  const { signs: secret, connection } = describePlatform(platform);
  switch (reason) {
    case 'signature differs':
      return `its signature differs: if the platform sent it, copy ${secret} from its console again; calls from strangers are refused here too`;
    case 'outside the time window':
      return `its time is ${offSec === undefined ? 'far' : `${offSec} s`} off our clock, more than WEBHOOK_WINDOW_SEC: correct this machine's clock`;
    case 'no signature':
    case 'signature parameters missing or repeated':
      return 'it has no signature: a stranger sent it, or a proxy removed its headers or query';
    case 'malformed signature':
      return 'its signature has a wrong form: a stranger sent it, or a proxy changed its headers or query';
    case 'webhook is off':
      return `webhooks are off (${connection?.setting}=${connection?.value}): a stranger sent it, or the platform's console still has the webhook address`;
    case 'no encrypted text':
      return 'it contains no encrypted text: a stranger sent it, or a proxy changed the body';
    case 'does not open':
    case 'the echo does not open':
      return 'it is signed but cannot be decrypted: copy WECOM_BOT_AES_KEY from the console again';
    case 'a time in place of the nonce':
      return 'its nonce is a time, which the platform never sends: it is a replay of an earlier delivery';
    case 'too large':
      return `it is larger than 1 MiB${sizeBytes === undefined ? '' : ` (${sizeBytes} bytes)`}`;
    case 'no room':
      return 'too many bodies arrived at once, and this one was dropped to make room';
    case 'compressed':
      return 'its body is compressed, which no platform does: configure the proxy to forward bodies unchanged';
    default:
      return reason;
  }
}
