import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parsePromptsFile, type SuggestedPrompts } from '../platforms/prompts-file.ts';
import type { Config } from '../config/config.ts';

/** What Parley itself offers, for a folder of settings that was made before there was such a file. */
const OWN_FILE = fileURLToPath(new URL('../../../config/prompts.json', import.meta.url));

/** Where the suggested questions stand: the file of the settings; where nobody named one and there is none, Parley's own. */
export function promptsFileOf({ promptsFile }: Pick<Config, 'promptsFile'>): string {
  return promptsFile.isNamed || existsSync(promptsFile.path) ? promptsFile.path : OWN_FILE;
}

/** @throws ConfigFileError; a start that gets here has looked at the file before (`config-files.ts`) */
export function readPrompts(config: Pick<Config, 'promptsFile'>): SuggestedPrompts {
  return parsePromptsFile(readFileSync(promptsFileOf(config), 'utf8'));
}
