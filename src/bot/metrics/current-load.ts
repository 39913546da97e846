import type { Server } from 'node:http';
import { Gauge, type Registry } from 'prom-client';

/** Registers the number of turns that run in this process, read when `/metrics` is read. */
export function registerRunningTurns(registry: Registry, worker: { readonly runningTurns: number }): void {
  register(registry, 'running_turns', 'Turns that this process runs now', async () => worker.runningTurns);
}

/** Registers the number of open connections to the servers of the bot, read when `/metrics` is read. */
export function registerHttpConnections(registry: Registry, servers: readonly Server[]): void {
  register(registry, 'http_connections', 'Open connections to the HTTP ports of this process', async () => {
    const counts = await Promise.all(servers.map(connectionsOf));
    return counts.reduce((sum, count) => sum + count, 0);
  });
}

function connectionsOf(server: Server): Promise<number> {
  // A closed server has none.
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

function register(registry: Registry, name: string, help: string, read: () => Promise<number>): void {
  new Gauge({
    ...{ name: `parley_${name}`, help, registers: [registry] },
    async collect() {
      this.set(await read());
    },
  });
}
