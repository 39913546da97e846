import { isIPv6, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { asError } from '../coded-error.ts';
import { SECOND_MS } from '../clock.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { bareHostname, portOf, proxyFor } from './proxy-config.ts';

const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;

export interface ConnectorOptions {
  /** Connect timeout in milliseconds. Defaults to 10 s. */
  timeoutMs?: number;
  /** The only addresses to connect to, whatever the name resolves to now. A proxy is asked for one of these addresses. */
  pinnedTo?: readonly [string, ...string[]];
}

/** Connector for undici: connects through the configured proxy, or directly. */
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
    const hostname = pinnedTo
      ? (pinnedTo.find((address) => !isIPv6(address)) ?? pinnedTo[0])
      : bareHostname(target.hostname);
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
