import { connect } from 'node:net';
import { SECOND_MS } from '../../shared/clock.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { Secrets } from '../../bot/config/config.ts';
import { resultsOf } from './results-of.ts';

const CONNECT_WITHIN_MS = 5 * SECOND_MS;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Checks that the configured proxies accept connections, because an unreachable proxy makes every other check fail. Shows
 * host and port, but never credentials.
 */
export async function checkProxies({
  httpsProxy,
  httpProxy,
}: Pick<Secrets, 'httpsProxy' | 'httpProxy'>): Promise<CheckResult[]> {
  const named = { HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy };
  return Promise.all(
    Object.entries(named).flatMap(([setting, address]) =>
      address === undefined ? [] : [checkProxy(setting, address)],
    ),
  );
}

async function checkProxy(setting: string, address: string): Promise<CheckResult> {
  const { protocol, hostname, port } = new URL(address);
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (DEFAULT_PORTS[protocol] ?? 80) };
  const shown = `${hostname}:${place.port}`;
  const reason = await faultOfConnecting(place);
  const { ok, fault } = resultsOf('Proxy');
  if (reason === undefined) return ok(`${shown} accepts connections (${setting})`);
  const nextStep = `Check the host and port in ${setting}, or unset it; list internal hosts in NO_PROXY`;
  return fault(`${shown} cannot be reached (${reason})`, nextStep);
}

/** @returns why no connection is established; undefined if one is */
function faultOfConnecting(place: { host: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(place);
    const end = (fault: string | undefined) => {
      socket.destroy();
      resolve(fault);
    };
    socket.setTimeout(CONNECT_WITHIN_MS, () => end('ETIMEDOUT'));
    socket.once('connect', () => end(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'unknown'));
  });
}
