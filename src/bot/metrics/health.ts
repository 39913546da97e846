import Router from '@koa/router';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';
import { TooSlowError, withTimeout } from '../../shared/with-timeout.ts';

/** One part that this process needs for its roles. */
export interface HealthPart {
  /** As `/readyz` names it. */
  name: string;
  /** Whether it can do its work now. Rejecting means no. */
  isReady(): Promise<boolean>;
  /** A sentence for the operator about what it cannot do although it can work; it holds nothing that is secret. */
  remark?(): string | undefined;
}

/** What `/readyz` says of a part; of what is not ready the reasons are in the log, not here, where anybody may look. */
type PartState = 'ready' | 'not ready' | 'too slow';

export interface HealthRoutesOptions {
  parts: readonly HealthPart[];
  registry: Registry;
  /** What a part in a process of its own counts; added up with ours. */
  otherMetrics?: () => Promise<MetricObjectWithValues<MetricValue<string>>[]>;
  /** What shows to `npm run check` that it reached a process with its settings. */
  prove(nonce: string): string;
}

/** What `npm run check` makes up. */
const NONCE = /^[\w-]{16,64}$/;

const PROBE_LIMIT_MS = SECOND_MS;

/**
 * `/healthz`: the process lives, and with `?nonce=` whose it is. `/webhooks/whose`: the same where a proxy keeps health inside, and
 * nothing for whoever makes up no nonce. `/readyz`: every part can work now (200) or not (503). `/metrics`: Prometheus text.
 */
export function healthRoutes({ parts, registry, otherMetrics, prove }: HealthRoutesOptions): Router {
  const router = new Router();
  const proofFor = (nonce: unknown) => (typeof nonce === 'string' && NONCE.test(nonce) ? prove(nonce) : undefined);
  router.get('/healthz', (context) => {
    context.set('Cache-Control', 'no-store');
    context.body = { status: 'alive', proof: proofFor(context.query['nonce']) };
  });
  router.get('/webhooks/whose', (context) => {
    const proof = proofFor(context.query['nonce']);
    if (proof === undefined) return;
    context.set('Cache-Control', 'no-store');
    context.body = { proof };
  });
  router.get('/readyz', async (context) => {
    const states = await Promise.all(parts.map(probe));
    const isReady = states.every((state) => state === 'ready');
    context.status = isReady ? 200 : 503;
    context.set('Cache-Control', 'no-store');
    context.body = {
      status: isReady ? 'ready' : 'not ready',
      parts: Object.fromEntries(parts.map(({ name, remark }, index) => [name, remark?.() ?? states[index]])),
    };
  });
  router.get('/metrics', async (context) => {
    context.set('Content-Type', registry.contentType);
    const others = (await otherMetrics?.()) ?? [];
    const all =
      others.length === 0 ? registry : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), others]);
    context.body = await all.metrics();
  });
  return router;
}

async function probe(part: HealthPart): Promise<PartState> {
  try {
    return (await withTimeout(part.isReady(), PROBE_LIMIT_MS)) ? 'ready' : 'not ready';
  } catch (error) {
    return error instanceof TooSlowError ? 'too slow' : 'not ready';
  }
}
