import type { z } from 'zod';
import type { Bilingual } from '../../shared/text/texts.ts';

/** Input from which a platform's part of the configuration is built. */
export interface AssembleOptions<Own> {
  settings: Own;
  /** Whether this deployment serves the platform. */
  isOn: boolean;
  /** Address of the simulator that replaces the platform; undefined unless local mode simulates this platform. */
  messengerUrl: string | undefined;
}

/** A connection that replaces the webhook. */
export interface ConnectionDescription {
  /** The setting that selects how the platform delivers, and its value for the connection. */
  setting: string;
  value: string;
  /** The first one is the secret used only by the connection. */
  credentials: readonly [string, ...string[]];
  /** Setup step in the platform's console, shown in the startup banner. */
  consoleLine: string;
}

/**
 * A platform's names, settings and texts, without its code (see `modules.ts`). Each platform has one file,
 * `platforms/NAME/description.ts`, listed in `registry.ts` (docs/extending/ADD_A_PLATFORM.md).
 */
export interface PlatformDescription {
  /** Used in keys, addresses (`/webhooks/NAME`) and counters; lower case, never changed. */
  name: string;
  label: Bilingual;
  settings: Readonly<Record<string, z.ZodType>>;
  /** The secret settings, by their names in the code. */
  secrets: Readonly<Record<string, string>>;
  /** Settings for receiving messages by the webhook. Either all or none must be set; setting all turns the platform on. */
  credentials: readonly [string, ...string[]];
  /** The connection that the platform offers instead of the webhook, if any, with its replacement for `credentials`. */
  connection?: ConnectionDescription;
  /**
   * Settings of the platform's web sign-in, if it has one that identifies the person who opened a link. All or none must be
   * set.
   */
  webSignIn?: readonly string[];
  /** Other settings that a setting requires. */
  needs?: Readonly<Record<string, readonly string[]>>;
  /** The setting that verifies deliveries, named when a delivery is refused. */
  signs: string;
  /** The setting with the bot's name, where the platform has one. */
  nameSetting?: string;
  /** Advice per setting, shown if the platform is on and the setting has its default. */
  advice?: Readonly<Record<string, string>>;
  /** Prefix of environment variables that belong to Parley. */
  prefix?: string;
  /** The app reserves messages that begin with a slash, so people type the bot's English commands without it. */
  bareWords?: true;
  /** Value to save in the platform's console, shown in the startup banner. */
  consoleLine(webhookUrl: string): string;
  /** Builds the platform's part of the configuration. */
  assemble(parts: AssembleOptions<never>): object;
}
