import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';

interface Instrument<Label extends string> {
  /** Without the prefix `parley_`. Counters end in `_total`, durations in `_seconds`. */
  name: string;
  help: string;
  labels?: readonly Label[];
}

/** Creates a counter. Each call adds `count` (defaults to 1) under its labels. */
export function counter<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [] }: Instrument<Label>,
): (values: Record<Label, string>, count?: number) => void {
  const made = new Counter<Label>({ name: `parley_${name}`, help, labelNames: labels, registers: [registry] });
  return (values, count = 1) => made.inc(values, count);
}

/** Creates a gauge of amounts per kind. Each call sets all kinds; kinds that it does not contain are removed. */
export function census<Label extends string>(
  registry: Registry,
  { name, help, label }: Omit<Instrument<Label>, 'labels'> & { label: Label },
): (counts: ReadonlyMap<string, number>) => void {
  const made = new Gauge<Label>({ name: `parley_${name}`, help, labelNames: [label], registers: [registry] });
  return (counts) => {
    made.reset();
    for (const [kind, count] of counts) made.labels(kind).set(count);
  };
}

/** Creates a gauge. Each call sets the value under its labels. */
export function gauge<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [] }: Instrument<Label>,
): (value: number, of?: Record<Label, string>) => void {
  const made = new Gauge<Label>({ name: `parley_${name}`, help, labelNames: labels, registers: [registry] });
  return (value, of) => (of === undefined ? made.set(value) : made.set(of, value));
}

/** Creates a histogram of durations. Takes milliseconds and records seconds, as Prometheus requires. */
export function durations<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [], bucketsSec }: Instrument<Label> & { bucketsSec: number[] },
): (values: Record<Label, string>, durationMs: number) => void {
  const made = new Histogram<Label>({
    name: `parley_${name}`,
    help,
    labelNames: labels,
    buckets: bucketsSec,
    registers: [registry],
  });
  return (values, durationMs) => made.observe(values, Math.max(0, durationMs) / SECOND_MS);
}

/** For work that a platform waits for. Its deadlines are 1, 3 and 5 s. */
export const QUICK_BUCKETS_SEC = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 3, 5];
/** For work that a person waits for. A live reply lasts for minutes. */
export const SLOW_BUCKETS_SEC = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 330, 600];
