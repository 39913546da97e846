import type { Server } from 'node:http';
import { Gauge, type Registry } from 'prom-client';

/** Registers the number of open connections to the servers of the bot, read when `/metrics` is read. */
export function registerHttpConnections(registry: Registry, servers: readonly Server[]): void {
  new Gauge({
    name: 'parley_http_connections',
    help: 'Open connections to the HTTP ports of this process',
    registers: [registry],
    async collect() {
      const counts = await Promise.all(servers.map(connectionsOf));
      this.set(counts.reduce((sum, count) => sum + count, 0));
    },
  });
}

function connectionsOf(server: Server): Promise<number> {
  // A closed server has none.
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
