import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parsePromptsFile, type SuggestedPrompts } from '../platforms/prompts-file.ts';
import type { Config } from '../config/config.ts';

/** Parley's own prompts file, for a config directory from before this file existed. */
const OWN_FILE = fileURLToPath(new URL('../../../config/prompts.json', import.meta.url));

/** Path of the prompts file: the one from the settings, or Parley's own if none is set and the default does not exist. */
export function promptsFileOf({ promptsFile }: Pick<Config, 'promptsFile'>): string {
  return promptsFile.isNamed || existsSync(promptsFile.path) ? promptsFile.path : OWN_FILE;
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readPrompts(config: Pick<Config, 'promptsFile'>): SuggestedPrompts {
  return parsePromptsFile(readFileSync(promptsFileOf(config), 'utf8'));
}
