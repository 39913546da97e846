import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import { asError } from '../coded-error.ts';
import { SECOND_MS } from '../clock.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { bare, portOf, proxyFor } from './proxy-config.ts';

const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;

export interface ConnectorOptions {
  /** For a connection to stand; 10 s unless told. Milliseconds. */
  timeoutMs?: number;
  /** The only addresses that may be connected to, whatever the name leads to by now; a proxy is asked for one of them. */
  pinnedTo?: readonly [string, ...string[]];
}

/** How undici opens connections: through the proxy where one is named for the place, else directly. */
export function outgoingConnector(options: ConnectorOptions = {}): buildConnector.connector {
  const { timeoutMs = CONNECT_TIMEOUT_MS, pinnedTo } = options;
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: pinnedTo && onlyTo(pinnedTo),
  });
  return (target, done) => {
    const proxy = proxyFor(target);
    if (!proxy) {
      connect(target, done);
      return;
    }
    const hostname = pinnedTo ? (pinnedTo.find((address) => !isIPv6(address)) ?? pinnedTo[0]) : bare(target.hostname);
    openTunnel(proxy, { hostname, port: portOf(target), timeoutMs }).then(
      (httpSocket) =>
        target.protocol === 'https:' ? connect({ ...target, httpSocket }, done) : done(null, httpSocket),
      (error: unknown) => done(asError(error), null),
    );
  };
}

function onlyTo(addresses: readonly [string, ...string[]]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_, { all }, callback) => {
    if (all === true) callback(null, found);
    else callback(null, addresses[0], isIPv6(addresses[0]) ? 6 : 4);
  };
}

/** For calls that have no connections of their own. */
export const outgoing = new Agent({ connect: outgoingConnector() });

type Connected = (error: Error | null, stream: Duplex) => void;

/** What Node's agents are told of a connection to open. */
interface Wanted {
  host?: string | null;
  port?: string | number | null;
}

/** Node's agents open connections through the proxy that is named for the place, and are used only where there is one. */
function tunnelledBy(protocol: string, finish: (socket: Duplex, wanted: Wanted) => Duplex) {
  return (wanted: Wanted, done?: Connected): undefined => {
    const hostname = bare(wanted.host ?? '');
    const target = { protocol, hostname, port: String(wanted.port ?? '') };
    const proxy = proxyFor(target) as URL;
    openTunnel(proxy, { hostname, port: portOf(target), timeoutMs: CONNECT_TIMEOUT_MS }).then(
      (socket) => done?.(null, finish(socket, wanted)),
      (error: unknown) => done?.(asError(error), undefined as never),
    );
  };
}

const secured = tunnelledBy('https:', (socket, wanted) => connectTls({ ...(wanted as ConnectionOptions), socket }));
const plain = tunnelledBy('http:', (socket) => socket);

class TunnelAgent extends HttpsAgent {
  override createConnection(wanted: ClientRequestArgs, done?: Connected): undefined {
    return secured(wanted, done);
  }
}

class PlainTunnelAgent extends HttpAgent {
  override createConnection(wanted: ClientRequestArgs, done?: Connected): undefined {
    return plain(wanted, done);
  }
}

const agents = { https: new TunnelAgent({ keepAlive: true }), http: new PlainTunnelAgent({ keepAlive: true }) };

/** Options by which `got` reaches an address; none where it goes there directly. */
export function throughProxy(address: string): { agent?: typeof agents } {
  return { agent: proxyFor(new URL(address)) && agents };
}
