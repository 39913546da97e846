import { tracingVariables } from '../../bot/app/tracing.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { resultsOf } from './results-of.ts';

/** Checks that the collector of traces accepts exports. A fault is only a warning, because answers do not need it. */
export async function checkCollector(
  tracing: NonNullable<Config['tracing']>,
  secrets: Pick<Secrets, 'tracingHeaders'>,
): Promise<CheckResult[]> {
  const { probeCollector } = await import('../../shared/tracing/otlp-tracer.ts');
  const reason = await probeCollector(tracingVariables(tracing, secrets));
  const { host } = new URL(tracing.endpoint);
  const { ok, warning } = resultsOf('Traces');
  if (reason === undefined) return [ok(`${host} accepts traces`)];
  const nextStep = 'Check OTEL_EXPORTER_OTLP_ENDPOINT (OTLP/HTTP, usually port 4318) and OTEL_EXPORTER_OTLP_HEADERS';
  return [warning(`${host} does not accept traces (${reason})`, nextStep)];
}
