import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { SECOND_MS } from '../../shared/clock.ts';

interface Instrument<Label extends string> {
  /** Without the prefix `parley_`; a counter's ends in `_total`, a duration's in `_seconds`. */
  name: string;
  help: string;
  labels?: readonly Label[];
}

/** A counter; called with its labels it counts one, or as many as told. */
export function counter<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [] }: Instrument<Label>,
): (values: Record<Label, string>, count?: number) => void {
  const made = new Counter<Label>({ name: `parley_${name}`, help, labelNames: labels, registers: [registry] });
  return (values, count = 1) => made.inc(values, count);
}

/** A gauge of what there is of each kind; called with all kinds, it forgets those that are not named any more. */
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

/** A gauge; called with its new value and its labels. */
export function gauge<Label extends string = never>(
  registry: Registry,
  { name, help, labels = [] }: Instrument<Label>,
): (value: number, of?: Record<Label, string>) => void {
  const made = new Gauge<Label>({ name: `parley_${name}`, help, labelNames: labels, registers: [registry] });
  return (value, of) => (of === undefined ? made.set(value) : made.set(of, value));
}

/** A histogram of durations, told in milliseconds and kept in seconds, as Prometheus wants them. */
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

/** For what a platform waits for: its deadlines are 1, 3 and 5 s. */
export const QUICK_BUCKETS_SEC = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 3, 5];
/** For what a person waits for: a live reply lives for minutes. */
export const SLOW_BUCKETS_SEC = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 330, 600];
