import { PLATFORM_NAMES } from './platform-name.ts';

/** What an administrator can pause. */
export type PauseTarget = 'all' | `${'platform' | 'group' | 'model'}:${string}`;

/** A pause that is in force. */
export interface Pause {
  target: PauseTarget;
  /** A text of the administrator, shown below the bot's own sentence. */
  message?: string;
  sinceMs: number;
}

const TARGET = /^(?:all|group:\S{1,200}|model:\S{1,200}|platform:(\S+))$/;

/** A budget names its group by platform and id; a pause stores only the id. */
const PLATFORM_OF_GROUP = new RegExp(`^(group:)(?:${PLATFORM_NAMES.join('|')}):`);

/** Reads a target as typed. @returns undefined for another form, or an unknown platform */
export function readPauseTarget(typed: string): PauseTarget | undefined {
  const text = typed.replace(PLATFORM_OF_GROUP, '$1');
  const match = TARGET.exec(text);
  if (!match) return undefined;
  const platform = match[1];
  if (platform !== undefined && !PLATFORM_NAMES.some((name) => name === platform)) return undefined;
  return text as PauseTarget;
}

/** How earlier versions stored the target of a group if it was typed with its platform. */
export function formerNamesOf(target: PauseTarget): string[] {
  const [, id] = /^group:(.*)$/.exec(target) ?? [];
  return id === undefined ? [] : PLATFORM_NAMES.map((platform) => `group:${platform}:${id}`);
}

/** The name of the model, if the target is one. */
export function modelOf(target: PauseTarget): string | undefined {
  return target.startsWith('model:') ? target.slice('model:'.length) : undefined;
}

/** Hash of all pauses, by target. */
export const PAUSES_KEY = 'pauses';
/** Channel that announces a change to all processes. */
export const PAUSES_CHANNEL = 'pauses-changed';
