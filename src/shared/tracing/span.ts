/** Facts of a span: names, numbers, codes and ids. Never message text, tokens or keys (SECURITY.md traces-without-content). */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** One step in the life of a message. */
export interface Span {
  /** The W3C header that makes another process continue this trace. */
  readonly traceparent: string | undefined;
  /** Undefined values are left out. `error.type` also marks the span as failed. */
  set(attributes: SpanAttributes): void;
  /** @param endedAtMs wall clock; defaults to now */
  end(endedAtMs?: number): void;
}

export interface SpanOptions {
  /** `server` and `client`: a request; `producer` and `consumer`: a message on its way through the queue. */
  kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** `traceparent` of the step before, in another process. Replaces the current span as parent. */
  parent?: string;
  /** `traceparent`s of other traces that led to this span. */
  links?: readonly string[];
  /** Wall clock. Defaults to now. */
  startedAtMs?: number;
  attributes?: SpanAttributes;
}

/** Creates spans. Must not throw or wait. */
export interface Tracer {
  start(name: string, options: SpanOptions, parent: Span | undefined): Span;
}
