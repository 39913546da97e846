import type { App } from '../../bot/app/app.ts';
import { describePlatform } from '../../bot/platforms/registry.ts';
import type { Config } from '../../bot/config/config.ts';
import { describeMovedPort, type MovedPort } from '../../bot/app/take-free-ports.ts';

interface BannerOptions {
  app: App;
  config: Config;
  moved: readonly MovedPort[];
  /** Problems, one sentence each. */
  troubles: readonly string[];
  /** What works but might be improved, one sentence each. */
  hints: readonly string[];
  /** Whether a person reads the output at a terminal; the most important part is then bold. */
  isTerminal: boolean;
  /**
   * Opens an address in the user's browser, if possible.
   * @returns whether it was tried
   */
  open(url: string): boolean;
  say(text: string): void;
}

/** Prints the listening addresses, current problems and next steps. Plain text for people, independent of the log format. */
export function printBanner({
  app: { addresses, madeApiKey },
  config,
  moved,
  troubles,
  hints,
  isTerminal,
  open,
  say,
}: BannerOptions): void {
  const isLocal = config.mode === 'local';
  const where = isLocal ? ' in local mode' : '';
  const headline =
    troubles.length === 0 ? `Parley is running${where}.` : `Parley has started${where}, but not all of it works yet:`;
  const messenger = addresses.find(({ name }) => name === 'messenger');
  say(
    [
      '',
      headline,
      ...(troubles.length === 0 ? [] : ['', ...troubles.map((sentence) => `  ${sentence}`)]),
      '',
      ...addresses.map(({ name, url }) => `  ${name.padEnd(10)} ${url}`),
      ...(madeApiKey === undefined
        ? []
        : [`  chat key   ${madeApiKey}  (for the service's /v1; stored in ${config.local.dataDir}/keys.json)`]),
      ...(hints.length === 0 ? [] : ['', ...hints.map((sentence) => `Hint: ${sentence}`)]),
      ...(moved.length === 0 ? [] : ['', ...moved.map(describeMovedPort)]),
      '',
      ...(messenger
        ? messengerLines(messenger.url, {
            dataDir: config.local.dataDir,
            isTerminal,
            isOpened: open(messenger.openUrl ?? messenger.url),
          })
        : [`Reached at ${config.http.publicUrl}`, ...consoleLines(config)]),
      '',
      '',
    ].join('\n'),
  );
}

interface MessengerWords {
  dataDir: string;
  isTerminal: boolean;
  isOpened: boolean;
}

/** Where to open the messenger and how to stop. */
function messengerLines(url: string, { dataDir, isTerminal, isOpened }: MessengerWords): string[] {
  const bold = isTerminal ? ['\u001B[1m', '\u001B[22m'] : ['', ''];
  const opened = isOpened ? ' Your browser opens it automatically.' : '';
  return [
    `Open ${bold.join(url)} in a browser, choose a user, and write to the bot.${opened}`,
    `Press Ctrl+C to stop. Conversations are stored in ${dataDir}.`,
  ];
}

/** What must be configured on the platforms. */
function consoleLines({ roles, http: { publicUrl }, platforms, connections }: Config): string[] {
  if (!roles.includes('receiver')) return [];
  return platforms.map((name) => {
    const { connection, consoleLine } = describePlatform(name);
    return connection && connections.includes(name)
      ? connection.consoleLine
      : consoleLine(`${publicUrl}/webhooks/${name}`);
  });
}
