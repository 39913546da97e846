import { describePlatform } from '../platforms/registry.ts';
import type { PlatformName } from '../domain/platform-name.ts';

export interface Refused {
  platform: PlatformName;
  reason: string;
  /** Difference between the delivery's time and the local clock. */
  offSec?: number;
  /** As declared by the sender. */
  sizeBytes?: number;
}

/** Tells the operator what to do if the platform refuses the secret of its connection. */
export function describeRefusedConnection(platform: PlatformName): string {
  const [secret] = describePlatform(platform).connection?.credentials ?? [];
  return `the platform refuses the connection for deliveries: copy ${secret} from its console again, then restart; until then no messages arrive`;
}

/** Tells the operator why a connection was lost, and what to do if the cause is not the network. */
export function describeLostConnection(reason: string): string {
  const words = 'the connection to the platform was lost; Parley reconnects';
  switch (reason) {
    case 'too_many_websockets':
      return `${words}: more programs are connected with this app than Slack allows (10): stop programs that are not part of this deployment`;
    case 'link_disabled':
      return `${words}: Socket Mode is disabled for this app: enable it in Slack's console`;
    default:
      return words;
  }
}

/** Consecutive replacements that indicate a second deployment instead of a short visit. */
const RIVAL_FROM = 3;

/** Tells the operator what to do when another program takes the bot's connection. */
export function describeReplacedConnection(level: number): { isRival: boolean; words: string } {
  const isRival = level >= RIVAL_FROM;
  const words = isRival
    ? 'another program keeps connecting as this bot and receives its messages: stop it, or give it its own bot (two deployments must not share one bot); Parley reconnects after a pause'
    : 'another program connected as this bot and took over the connection; Parley reconnects after a pause';
  return { isRival, words };
}

/** Tells the operator why a delivery was refused and what to do if it was expected. Contains no text of the delivery. */
export function describeRefusal({ platform, reason, offSec, sizeBytes }: Refused): string {
  const { signs: secret, connection } = describePlatform(platform);
  switch (reason) {
    case 'signature differs':
      return `its signature differs: if the platform sent it, copy ${secret} from its console again; calls from strangers are refused here too`;
    case 'outside the time window':
      return `its time is ${offSec === undefined ? 'far' : `${offSec} s`} off our clock, more than WEBHOOK_WINDOW_SEC: correct this machine's clock`;
    case 'no signature':
    case 'signature parameters missing or repeated':
      return 'it has no signature: a stranger sent it, or a proxy removed its headers or query';
    case 'malformed signature':
      return 'its signature has a wrong form: a stranger sent it, or a proxy changed its headers or query';
    case 'webhook is off':
      return `webhooks are off (${connection?.setting}=${connection?.value}): a stranger sent it, or the platform's console still has the webhook address`;
    case 'no encrypted text':
      return 'it contains no encrypted text: a stranger sent it, or a proxy changed the body';
    case 'does not open':
    case 'the echo does not open':
      return 'it is signed but cannot be decrypted: copy WECOM_BOT_AES_KEY from the console again';
    case 'a time in place of the nonce':
      return 'its nonce is a time, which the platform never sends: it is a replay of an earlier delivery';
    case 'too large':
      return `it is larger than 1 MiB${sizeBytes === undefined ? '' : ` (${sizeBytes} bytes)`}`;
    case 'no room':
      return 'too many bodies arrived at once, and this one was dropped to make room';
    case 'compressed':
      return 'its body is compressed, which no platform does: configure the proxy to forward bodies unchanged';
    default:
      return reason;
  }
}
