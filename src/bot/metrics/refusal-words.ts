import { describePlatform } from '../platforms/registry.ts';
import type { PlatformName } from '../domain/platform-name.ts';

export interface Refused {
  platform: PlatformName;
  reason: string;
  /** How far its time lies from ours. */
  offSec?: number;
  /** As its sender declared it. */
  sizeBytes?: number;
}

/** What an operator does where the platform refuses the secret of its connection. */
export function refusedConnectionInWords(platform: PlatformName): string {
  const [secret] = describePlatform(platform).connection?.credentials ?? [];
  return `the platform refuses the connection over which it is to deliver: see that ${secret} is what its console shows, then restart; until then nothing comes in`;
}

/** Why a connection was lost, with what an operator does where it is not the network. */
export function lostConnectionInWords(reason: string): string {
  const words = 'the connection to the platform is gone; it is opened again';
  switch (reason) {
    case 'too_many_websockets':
      return `${words}: more programs are connected with this app than Slack allows (10): stop those that are not part of this deployment`;
    case 'link_disabled':
      return `${words}: Socket Mode is switched off for this app: switch it on in Slack's console`;
    default:
      return words;
  }
}

/** Replacements in a row from which on a second deployment is likelier than a short visit. */
const RIVAL_FROM = 3;

/** What an operator does when another program takes the bot's connection. */
export function replacedConnectionInWords(level: number): { isRival: boolean; words: string } {
  const isRival = level >= RIVAL_FROM;
  const words = isRival
    ? 'another program keeps connecting as this bot, and messages reach that program instead: stop it, or give it a bot of its own (two deployments must not share one bot); the connection is taken back after a pause'
    : 'another program connected as this bot and took over the connection; it is taken back after a pause';
  return { isRival, words };
}

/** Why a delivery was refused and what an operator who expected it would do; it holds nothing of the delivery's own words. */
export function refusalInWords({ platform, reason, offSec, sizeBytes }: Refused): string {
  const secret = describePlatform(platform).signs;
  switch (reason) {
    case 'signature differs':
      return `its signature differs: see that ${secret} is what the platform's console shows; anybody else's call ends here too`;
    case 'outside the time window':
      return `its time is ${offSec === undefined ? 'far' : `${offSec} s`} off our clock, more than WEBHOOK_WINDOW_SEC: set this machine's clock`;
    case 'no signature':
    case 'signature parameters missing or repeated':
      return 'it carries no signature: it came from somebody else than the platform, or a proxy took headers or query away';
    case 'no encrypted text':
      return 'it holds no encrypted text: it came from somebody else than the platform, or a proxy changed the body';
    case 'does not open':
    case 'the echo does not open':
      return 'it is signed and does not open: see that WECOM_BOT_AES_KEY is what the console shows';
    case 'a time in place of the nonce':
      return 'its nonce is a time, which the platform never sends: somebody sent an earlier delivery again';
    case 'too large':
      return `it is larger than 1 MiB${sizeBytes === undefined ? '' : ` (${sizeBytes} bytes)`}`;
    case 'no room':
      return 'too many bodies were on their way at once, and this one had to make room';
    case 'compressed':
      return 'its body is compressed, which no platform does: see that no proxy packs it';
    default:
      return reason;
  }
}
