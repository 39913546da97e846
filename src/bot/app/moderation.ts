import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import { Moderation, type ModerationOptions } from '../turn/moderation/moderation.ts';
import { createAskModeration } from '../turn/moderation/moderation-service.ts';
import { createWordList, readWords, type WordList } from '../policy/word-list.ts';

/**
 * Returns a function that reads the words again. The list is built only if they have changed, because that takes up to a
 * second.
 * @returns of that function: undefined if nothing is moderated. It throws ConfigFileError
 */
export function moderationReader(
  { moderation: { wordsFile, url, whenAway } }: Pick<Config, 'moderation'>,
  report: ModerationOptions['report'],
): () => Moderation | undefined {
  const ask = url === undefined ? undefined : createAskModeration(url);
  let known: { text: string; words: WordList | undefined } | undefined;
  return () => {
    const text = readFileSync(fileInUse(wordsFile), 'utf8');
    if (known?.text !== text) known = { text, words: createWordList(readWords(text)) };
    const { words } = known;
    return words || ask ? new Moderation({ words, ask, whenAway, report }) : undefined;
  };
}
