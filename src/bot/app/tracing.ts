import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import { INSTANCE, type Log } from '../../shared/log.ts';
import { useTracer } from '../../shared/tracing/tracing.ts';
import { VERSION } from '../../shared/version.ts';
import type { Config, Secrets } from '../config/config.ts';

export interface TracingOptions {
  config: Config;
  secrets: Pick<Secrets, 'tracingHeaders'>;
  log: Log;
}

/** The settings as the SDK reads them. */
export function tracingVariables(
  { endpoint, serviceName, sampler, samplerShare }: NonNullable<Config['tracing']>,
  { tracingHeaders }: Pick<Secrets, 'tracingHeaders'>,
): Readonly<Record<string, string | undefined>> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: tracingHeaders,
    OTEL_SERVICE_NAME: serviceName,
    OTEL_TRACES_SAMPLER: sampler,
    OTEL_TRACES_SAMPLER_ARG: samplerShare,
  };
}

/**
 * Starts the tracing of this process if `OTEL_EXPORTER_OTLP_ENDPOINT` is set. Only then is the SDK loaded. A fault of the SDK
 * or the collector is logged and has no other effect.
 * @returns exports the last spans within two seconds and ends the tracing
 */
export async function startTracing({ config, secrets, log }: TracingOptions): Promise<() => Promise<void>> {
  const { tracing, roles } = config;
  const isWanted = process.env['OTEL_SDK_DISABLED'] !== 'true' && process.env['OTEL_TRACES_EXPORTER'] !== 'none';
  if (!tracing || !isWanted || !(roles.includes('receiver') || roles.includes('worker'))) return async () => undefined;
  let saidMs = Number.NEGATIVE_INFINITY;
  try {
    const { createOtlpTracer } = await import('../../shared/tracing/otlp-tracer.ts');
    const tracer = createOtlpTracer({
      variables: tracingVariables(tracing, secrets),
      resource: { 'service.name': 'parley', 'service.version': VERSION, 'service.instance.id': INSTANCE },
      onExportFailed(error) {
        if (monotonicMs() - saidMs < MINUTE_MS) return;
        saidMs = monotonicMs();
        // The message of the error may contain the collector's answer.
        const { name, code } = (error ?? {}) as NodeJS.ErrnoException;
        log.warn(
          { reason: name, code },
          'traces could not be exported and are lost: check that OTEL_EXPORTER_OTLP_ENDPOINT accepts OTLP/HTTP',
        );
      },
    });
    useTracer(tracer);
    log.info('messages are traced');
    return async () => {
      useTracer(undefined);
      await tracer.close();
    };
  } catch (thrown) {
    log.error({ error: asError(thrown) }, 'tracing could not start; Parley runs without it');
    return async () => undefined;
  }
}
