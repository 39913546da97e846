import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type {
  ConnectionChange,
  ConnectionHandlers,
  Delivery,
  PlatformConnection,
  Platform,
  UndeliverableAnswer,
} from '../platforms/platform.ts';
import type { HandleDelivery } from './handle-delivery.ts';
import type { WebhookReport } from './webhook-report.ts';

export interface ConnectionsOptions {
  platforms: readonly Platform[];
  handle: HandleDelivery;
  log: Log;
  report: WebhookReport;
  /** Keeps an answer that no method of the platform's connection could deliver. */
  keepAnswer(platform: Platform, answer: UndeliverableAnswer): Promise<void>;
}

export interface Connections extends PlatformConnection {
  /** The last change that a platform's connection reported; undefined before its first report. */
  lastChange(platform: PlatformName): ConnectionChange | undefined;
}

/**
 * Opens the connections of the platforms that deliver over one instead of their webhook: read → handle → acknowledge.
 * Incoming deliveries are handled like webhook deliveries, so nothing is acknowledged before it is stored.
 */
export function openConnections({ platforms, ...options }: ConnectionsOptions): Connections {
  const last = new Map<PlatformName, ConnectionChange>();
  const opened = platforms.flatMap((platform) => platform.connect?.(handlersOf(platform, options, last)) ?? []);
  return {
    lastChange: (platform) => last.get(platform),
    async close() {
      await Promise.all(opened.map((connection) => connection.close()));
    },
  };
}

function handlersOf(
  platform: Platform,
  { handle, log, report, keepAnswer }: Omit<ConnectionsOptions, 'platforms'>,
  last: Map<PlatformName, ConnectionChange>,
): ConnectionHandlers {
  const take = async (read: () => Delivery): Promise<boolean> => {
    const startedMs = performance.now();
    const pending = platform.ready?.();
    if (pending) await pending;
    const delivery = read();
    const { answer, outcome, deliveryId } = await handle(platform, delivery, startedMs);
    const durationMs = performance.now() - startedMs;
    report.deliveryReceived({ platform: platform.name, kind: delivery.kind, outcome, deliveryId, durationMs });
    return answer.status === 200;
  };
  return {
    take: (read) =>
      take(read).catch((thrown: unknown) => {
        log.error({ error: asError(thrown), platform: platform.name }, 'a delivery failed');
        return false;
      }),
    refusedNotice: REPLY_TEXTS.movedBelow.zh,
    onUndeliverable: (answer) => keepAnswer(platform, answer),
    onLost: (reason) => report.deliveryLost({ platform: platform.name, reason }),
    onChange(change) {
      last.set(platform.name, change);
      report.connectionChanged({ platform: platform.name, ...change });
    },
  };
}
