import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span, SpanAttributes, SpanOptions, Tracer } from './span.ts';

/**
 * Spans of this process. Without a tracer every function below returns at once: no span, no context and no attribute is
 * created, and the OpenTelemetry SDK is not loaded (docs/design/tracing.md).
 */
let tracer: Tracer | undefined;
let current: AsyncLocalStorage<Span | undefined> | undefined;

const NO_OPTIONS: SpanOptions = {};

/** Stands for the span while tracing is off. Shared, so that nothing is allocated. */
const NO_SPAN: Span = { traceparent: undefined, set: () => undefined, end: () => undefined };

/** Sets the tracer of the process, or none. Called once at start and once at the end. */
export function useTracer(next: Tracer | undefined): void {
  tracer = next;
  current = next && (current ?? new AsyncLocalStorage());
}

/** Whether spans are recorded. On hot paths, callers ask before they create functions or attributes for a span. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/**
 * Runs `work` in a new span: a child of the current span unless `parent` is given, else the root of a new trace. Work that
 * throws marks the span with the code or name of its error, never with its message.
 */
export function inSpan<Result>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  if (!tracer || !current) return work(NO_SPAN);
  const span = tracer.start(name, options, current.getStore());
  return current.run(span, async () => {
    try {
      return await work(span);
    } catch (error) {
      span.set({ 'error.type': errorType(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Runs a step of a message in a span, if a span is open around it. Background work of a process has none. */
export function inStep<Result>(name: string, work: () => Promise<Result>, options = NO_OPTIONS): Promise<Result> {
  return current?.getStore() === undefined ? work() : inSpan(name, options, work);
}

/** Records a span that has already ended. Times are on the wall clock. */
export function recordSpan(name: string, options: SpanOptions & { startedAtMs: number; endedAtMs: number }): void {
  tracer?.start(name, options, current?.getStore()).end(options.endedAtMs);
}

/** Adds attributes to the current span, if there is one. */
export function describeSpan(attributes: SpanAttributes): void {
  current?.getStore()?.set(attributes);
}

/** The W3C `traceparent` of the current span; undefined without one. */
export function traceparent(): string | undefined {
  return current?.getStore()?.traceparent;
}

/**
 * Binds a function to the current span. Callbacks of a shared connection otherwise run in the span in which the connection
 * was opened.
 */
export function bindSpan<Args extends unknown[], Result>(call: (...args: Args) => Result): (...args: Args) => Result {
  const span = current?.getStore();
  const store = current;
  return store === undefined ? call : (...args) => store.run(span, call, ...args);
}

/** Runs work that serves other messages too, and therefore belongs to no trace. */
export function withoutSpan<Result>(work: () => Result): Result {
  return current === undefined ? work() : current.run(undefined, work);
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
