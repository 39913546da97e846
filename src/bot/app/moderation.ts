import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import { Moderation, type ModerationOptions } from '../turn/moderation/moderation.ts';
import { createAskModeration } from '../turn/moderation/moderation-service.ts';
import { createWordList, createWordListSlowly, readWords, type WordList } from '../policy/word-list.ts';

/** Reads the words of the file, and builds their list only if they have changed. */
export interface ModerationReader {
  /** Builds the list in slices, so that `read` finds it. @throws ConfigFileError */
  prepare(): Promise<void>;
  /** @returns undefined if nothing is moderated. @throws ConfigFileError */
  read(): Moderation | undefined;
}

export function moderationReader(
  { moderation: { wordsFile, url, whenAway } }: Pick<Config, 'moderation'>,
  report: ModerationOptions['report'],
): ModerationReader {
  const ask = url === undefined ? undefined : createAskModeration(url);
  let known: { text: string; words: WordList | undefined } | undefined;
  const readText = () => readFileSync(fileInUse(wordsFile), 'utf8');
  return {
    async prepare() {
      const text = readText();
      if (known?.text !== text) known = { text, words: await createWordListSlowly(readWords(text)) };
    },
    read() {
      const text = readText();
      if (known?.text !== text) known = { text, words: createWordList(readWords(text)) };
      const { words } = known;
      return words || ask ? new Moderation({ words, ask, whenAway, report }) : undefined;
    },
  };
}
