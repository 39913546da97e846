import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as SdkSpan,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { SECOND_MS } from '../clock.ts';
import { definedOnly } from '../defined-only.ts';
import { settledWithin } from '../settled-within.ts';
import type { Span, SpanAttributes, SpanOptions, Tracer } from './span.ts';

export interface OtlpTracerOptions {
  /** Standard `OTEL_*` variables in addition to those of the process, which take precedence. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Attributes of this process. */
  resource: Readonly<Record<string, string>>;
  /** Called for each batch of spans that could not be exported and is dropped. */
  onExportFailed(error: Error | undefined): void;
}

export interface OtlpTracer extends Tracer {
  /** Exports the remaining spans within two seconds, and stops. */
  close(): Promise<void>;
}

/** Time for the last export at a stop. */
const FLUSH_LIMIT_MS = 2 * SECOND_MS;
const PROBE_LIMIT_MS = 5 * SECOND_MS;

/**
 * Exports spans over OTLP/HTTP in batches, in the background. Loaded only if tracing is on. The SDK reads the standard
 * variables: endpoint, headers, service name, sampler, limits and batches. At most `OTEL_BSP_MAX_QUEUE_SIZE` spans (2,048)
 * wait; further ones are dropped.
 */
export function createOtlpTracer({ variables, resource, onExportFailed }: OtlpTracerOptions): OtlpTracer {
  const provider = withVariables(variables, () => {
    const exporter = tellingFailures(new OTLPTraceExporter(), onExportFailed);
    return new BasicTracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes(resource))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
  });
  const tracer = provider.getTracer('parley');
  return {
    start(name, { kind, parent, links = [], startedAtMs, attributes }, around) {
      const span = tracer.startSpan(
        name,
        {
          kind: kind && KINDS[kind],
          startTime: startedAtMs,
          links: links.flatMap((link) => contextOf(link) ?? []).map((context) => ({ context })),
          attributes: attributes && definedOnly(attributes),
        },
        parentContext(parent, around),
      );
      return new OtlpSpan(span);
    },
    async close() {
      await settledWithin([provider.shutdown()], FLUSH_LIMIT_MS);
    },
  };
}

/**
 * Sends the collector an export without spans, as the tracer would.
 * @returns why it was not accepted: the status of the collector, or the code of the system
 */
export async function probeCollector(variables: OtlpTracerOptions['variables']): Promise<string | undefined> {
  const exporter = withVariables({ OTEL_EXPORTER_OTLP_TIMEOUT: String(PROBE_LIMIT_MS), ...variables }, () => {
    return new OTLPTraceExporter();
  });
  const result = await new Promise<ExportResult>((resolve) => exporter.export([], resolve));
  await exporter.shutdown();
  if (!hasFailed(result)) return undefined;
  const { code, name } = (result.error ?? {}) as { code?: string | number; name?: string };
  return String(code ?? name);
}

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

const KINDS: Readonly<Record<NonNullable<SpanOptions['kind']>, SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

class OtlpSpan implements Span {
  readonly span: SdkSpan;

  constructor(span: SdkSpan) {
    this.span = span;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(definedOnly(attributes));
    if (attributes['error.type'] !== undefined) this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(endedAtMs?: number): void {
    this.span.end(endedAtMs);
  }
}

function parentContext(parent: string | undefined, around: Span | undefined): Context {
  const remote = parent === undefined ? undefined : contextOf(parent);
  if (remote) return trace.setSpanContext(ROOT_CONTEXT, remote);
  return around instanceof OtlpSpan ? trace.setSpan(ROOT_CONTEXT, around.span) : ROOT_CONTEXT;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** @returns undefined for a header of another version or form: the trace then begins here */
function contextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** `ExportResultCode.SUCCESS` of the SDK. */
const SUCCESS = 0;

function hasFailed({ code }: { code: number }): boolean {
  return code !== SUCCESS;
}

function tellingFailures(exporter: SpanExporter, onExportFailed: OtlpTracerOptions['onExportFailed']): SpanExporter {
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        if (hasFailed(result)) onExportFailed(result.error);
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** The SDK reads its variables from the process; those of the settings file and of secret files are not there. */
function withVariables<Result>(variables: OtlpTracerOptions['variables'], create: () => Result): Result {
  const added = Object.entries(variables).filter(
    ([name, value]) => value !== undefined && (process.env[name] ?? '') === '',
  );
  for (const [name, value] of added) process.env[name] = value;
  try {
    return create();
  } finally {
    for (const [name] of added) Reflect.deleteProperty(process.env, name);
  }
}
