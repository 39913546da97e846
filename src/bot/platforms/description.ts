import type { z } from 'zod';
import type { Bilingual } from '../../shared/text/texts.ts';

/** Input from which a platform's part of the configuration is built. */
export interface AssembleParts<Own> {
  settings: Own;
  /** Whether this deployment serves the platform. */
  isOn: boolean;
  /** Address of the simulator that replaces the platform; undefined unless local mode plays this one. */
  messengerUrl: string | undefined;
}

/** How a connection replaces the webhook. */
export interface ConnectionDescription {
  /** The setting that chooses, and the value that selects the connection. */
  setting: string;
  value: string;
  /** The first is the connection's own secret. */
  credentials: readonly [string, ...string[]];
  /** Setup step on the platform's side, shown in the startup banner. */
  consoleLine: string;
}

/**
 * A platform's names, settings and texts, without its code, which `modules.ts` lists. Each platform has one file,
 * `platforms/NAME/description.ts`, listed in `registry.ts` (docs/ADD_A_PLATFORM.md).
 */
export interface PlatformDescription {
  /** Part of keys, addresses (`/webhooks/NAME`) and counters: lower case, never changed. */
  name: string;
  label: Bilingual;
  settings: Readonly<Record<string, z.ZodType>>;
  /** The secret settings, by the names under which the code receives them. */
  secrets: Readonly<Record<string, string>>;
  /** Settings for receiving messages by the webhook: all or none are set; all set turns the platform on. */
  credentials: readonly [string, ...string[]];
  /**
   * The connection by which the platform can deliver instead, if any: how to choose it, and its replacement for
   * `credentials`.
   */
  connection?: ConnectionDescription;
  /** Settings of its own web sign-in, if it has one that shows who opened a link: all or none. */
  webSignIn?: readonly string[];
  /** Further settings that a setting requires. */
  needs?: Readonly<Record<string, readonly string[]>>;
  /** The setting that verifies deliveries, named when a delivery is refused. */
  signs: string;
  /** The setting with the bot's name, where the platform has one. */
  nameSetting?: string;
  /** Advice per setting, shown when the platform is on and the setting has its default. */
  advice?: Readonly<Record<string, string>>;
  /** Names with this prefix belong to Parley, in any environment. */
  prefix?: string;
  /** The app reserves messages that begin with a slash, so people type the bot's English commands without it. */
  bareWords?: true;
  /** Value to save on the platform's side, shown in the startup banner. */
  consoleLine(webhookUrl: string): string;
  /** Builds its part of the configuration. */
  assemble(parts: AssembleParts<never>): object;
}
