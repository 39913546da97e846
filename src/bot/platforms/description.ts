import type { z } from 'zod';
import type { Bilingual } from '../../shared/text/texts.ts';

/** What a platform's part of the configuration is made from. */
export interface AssembleParts<Own> {
  settings: Own;
  /** Whether this deployment serves the platform. */
  isOn: boolean;
  /** Where the messenger stands in for the platform; undefined unless local mode plays this one. */
  messengerUrl: string | undefined;
}

/** How a connection takes the webhook's place. */
export interface ConnectionDescription {
  /** The setting that chooses, and its value that chooses the connection. */
  setting: string;
  value: string;
  /** The first is the connection's own secret. */
  credentials: readonly [string, ...string[]];
  /** What has to be done on the platform's side, for the greeting at a start. */
  consoleLine: string;
}

/**
 * What other modules know of a platform: its names, settings and words, without its code, which `modules.ts` lists. One file a
 * platform, `platforms/NAME/description.ts`, listed in `registry.ts` (docs/ADD_A_PLATFORM.md).
 */
export interface PlatformDescription {
  /** Part of keys, addresses (`/webhooks/NAME`) and counters: small letters, never changed. */
  name: string;
  label: Bilingual;
  settings: Readonly<Record<string, z.ZodType>>;
  /** Which of the settings are secrets, by the names under which the code is given them. */
  secrets: Readonly<Record<string, string>>;
  /** What messages are received with by the webhook: all are set or none, and the platform is on when they are. */
  credentials: readonly [string, ...string[]];
  /** Where it can deliver over a connection that we open, too: what is set for that, and what it needs in place of `credentials`. */
  connection?: ConnectionDescription;
  /** What its own web sign-in needs, where it has one that shows who opened a link: all or none. */
  webSignIn?: readonly string[];
  /** What else must be set where a setting is. */
  needs?: Readonly<Record<string, readonly string[]>>;
  /** The setting by which deliveries are proven, for whoever finds that one was refused. */
  signs: string;
  /** The setting that holds the bot's name, where the platform has one. */
  nameSetting?: string;
  /** What is said when the platform is on and this setting has its default. */
  advice?: Readonly<Record<string, string>>;
  /** Names that begin so are meant for us, wherever they stand. */
  prefix?: string;
  /** The app keeps what begins with a slash for itself: there people type the bot's English words without it. */
  bareWords?: true;
  /** What has to be saved on the platform's side, for the greeting at a start. */
  consoleLine(webhookUrl: string): string;
  /** Its part of the configuration. */
  assemble(parts: AssembleParts<never>): object;
}
