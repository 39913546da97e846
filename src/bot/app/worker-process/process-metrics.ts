import { AggregatorRegistry, type Registry } from 'prom-client';
import type { MetricsJson } from './worker-messages.ts';

const COUNTED: readonly string[] = ['counter', 'histogram'];

/** What a process has counted. Its gauges mean nothing once it has ended. */
export async function countsOf(registry: Registry): Promise<MetricsJson> {
  return (await registry.getMetricsAsJSON()).filter(({ type }) => COUNTED.includes(String(type)));
}

export async function sumOfMetrics(lists: readonly MetricsJson[]): Promise<MetricsJson> {
  const filled = lists.filter(({ length }) => length > 0);
  return filled.length === 0 ? [] : AggregatorRegistry.aggregate(filled).getMetricsAsJSON();
}

/** Counts of processes that serve no metrics themselves and end after a few turns. */
export class ProcessMetrics {
  readonly #latest = new Map<string, MetricsJson>();
  #ended: Promise<MetricsJson> = Promise.resolve([]);

  /** @param name of the process */
  note(name: string, counts: MetricsJson): void {
    this.#latest.set(name, counts);
  }

  /** The process has ended: its counts stay in the sum. */
  end(name: string): void {
    const last = this.#latest.get(name);
    this.#latest.delete(name);
    if (last) this.#ended = this.#ended.then((ended) => sumOfMetrics([ended, last]));
  }

  async sum(): Promise<MetricsJson> {
    return sumOfMetrics([await this.#ended, ...this.#latest.values()]);
  }
}
