import { say, type Language } from '../../base/texts.ts';
import type { ModelCatalog } from '../../models/model-catalog.ts';
import { FILE_TEXTS } from '../../texts/file-texts.ts';
import { firstThatSees } from '../ask/pick-model.ts';
import type { AdmittedContext } from '../turn-context.ts';
import { MOST_FILES, type FoundFile } from './fetch-files.ts';
import { extentOf, placeIn, shownName } from './file-words.ts';
import type { CutFile } from './fit-files.ts';
import type { KeptFile } from './kept-file.ts';

/** @returns why a question with these files cannot be answered, one sentence for each of them that stands against it */
export function filesObstacle(
  context: AdmittedContext,
  found: readonly FoundFile[],
  catalog: ModelCatalog,
): string | undefined {
  const { question, models } = context;
  const { language } = question;
  const seesNothing = firstThatSees(models, catalog) === undefined;
  const sentences = found.flatMap((file) => {
    const name = shownName(file.name, language);
    if ('fault' in file) return [say(FILE_TEXTS[file.fault], language, { file: name })];
    return file.parts.length === 0 && seesNothing ? [say(FILE_TEXTS.noModelSees, language, { file: name })] : [];
  });
  return sentences.length === 0 ? undefined : sentences.join('\n\n');
}

/** @returns the sentence where there are too many of them */
export function tooManyFiles({ question: { files, language } }: AdmittedContext): string | undefined {
  if (files.length <= MOST_FILES) return undefined;
  return say(FILE_TEXTS.tooMany, language, { count: files.length, most: MOST_FILES });
}

/** What is said to somebody who sent files and no question. */
export function filesReady(files: readonly KeptFile[], language: Language): string {
  const [only] = files;
  const told = (file: KeptFile) => ({ file: shownName(file.name, language), extent: extentOf(file, language) });
  if (files.length === 1 && only)
    return say(only.parts.length === 0 ? FILE_TEXTS.readyScan : FILE_TEXTS.ready, language, told(only));
  const list = files.map((file) => say(FILE_TEXTS.listed, language, told(file))).join('\n');
  return say(FILE_TEXTS.readyMany, language, { count: files.length, list });
}

/** What the person is told apart from the answer: macros, and pages that nobody here can look at. */
export function filesNotes(
  { question: { language }, models }: AdmittedContext,
  files: readonly KeptFile[],
  catalog: ModelCatalog,
): string[] {
  const seesNothing = firstThatSees(models, catalog) === undefined;
  return files.flatMap((file) => {
    const named = { file: shownName(file.name, language) };
    const hasScans = file.parts.length > 0 && file.pictures.some(({ isScan }) => isScan);
    return [
      ...(file.hasMacros === true ? [say(FILE_TEXTS.hasMacros, language, named)] : []),
      ...(hasScans && seesNothing ? [say(FILE_TEXTS.unseenPages, language, named)] : []),
    ];
  });
}

/** Up to where a file was used. */
export function cutNote({ name, upTo, pageCount }: CutFile, language: Language): string {
  const place = placeIn(upTo, language);
  const isPage = upTo.startsWith('page ') && pageCount !== undefined;
  if (isPage) return say(FILE_TEXTS.cutOfPages, language, { file: name, place, count: pageCount });
  return say(FILE_TEXTS.cut, language, { file: name, place });
}
