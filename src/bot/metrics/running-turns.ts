import { Gauge, type Registry } from 'prom-client';

/** Registers the gauge of running turns. Every worker has it, so that its absence shows that no worker is alive. */
export function registerRunningTurns(registry: Registry, count: () => number): void {
  new Gauge({
    name: 'parley_running_turns',
    help: 'Turns that run in this process now; only workers have this metric',
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
}
