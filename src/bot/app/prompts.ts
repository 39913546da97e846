import { readFileSync } from 'node:fs';
import { parsePromptsFile, type SuggestedPrompts } from '../platforms/prompts-file.ts';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readPrompts({ promptsFile }: Pick<Config, 'promptsFile'>): SuggestedPrompts {
  return parsePromptsFile(readFileSync(fileInUse(promptsFile), 'utf8'));
}
