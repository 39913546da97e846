import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import { Moderation, type ModerationOptions } from '../turn/moderation/moderation.ts';
import { createAskModeration } from '../turn/moderation/moderation-service.ts';
import { parseWordList } from '../policy/word-list.ts';

/** @returns undefined if nothing is moderated @throws ConfigFileError */
export function readModeration(
  { moderation: { wordsFile, url, whenAway } }: Pick<Config, 'moderation'>,
  report: ModerationOptions['report'],
): Moderation | undefined {
  const words = parseWordList(readFileSync(fileInUse(wordsFile), 'utf8'));
  const ask = url === undefined ? undefined : createAskModeration(url);
  return words || ask ? new Moderation({ words, ask, whenAway, report }) : undefined;
}
