import { MINUTE_MS } from '../../../shared/clock.ts';
import { say, type Language } from '../../../shared/text/texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import { firstThatSees } from '../answer/pick-model.ts';
import type { UnreadPart } from '../prompt/question.ts';
import { unreadNotes, unreadRefusal } from '../tell-unread.ts';
import type { AdmittedContext } from '../turn-context.ts';
import { MOST_FILES, type FoundFile, type KeptNow } from './fetch-files.ts';
import { extentOf, placeIn, rangeIn, shownName } from './file-words.ts';
import type { CutFile } from './fit-attachments.ts';
import type { KeptFile } from './kept-file.ts';

/**
 * @returns why a question with these files cannot be answered, one sentence for each of them that stands against it
 * @param isBare the question is still to come, for which they have to be kept
 */
export function filesObstacle(
  context: AdmittedContext,
  found: readonly FoundFile[],
  { catalog, isBare }: { catalog: ModelCatalog; isBare: boolean },
): string | undefined {
  const { question, models } = context;
  const { language } = question;
  const seesNothing = firstThatSees(models, catalog) === undefined;
  const counted = isBare ? found : found.filter((file) => !isElsewhere(file));
  const sentences = counted.flatMap((file) => {
    const name = shownName(file.name, language);
    if ('fault' in file)
      return [
        file.fault === 'elsewhere'
          ? unreadRefusal({ language, unread: [unreadOf(file)] })
          : say(FILE_TEXTS[file.fault], language, { file: name, minutes: minutesOf(file) }),
      ];
    if (isBare && file.keeping === 'no_room') return [say(FILE_TEXTS.noRoomUntilAsked, language, { file: name })];
    return file.parts.length === 0 && seesNothing ? [say(FILE_TEXTS.noModelSees, language, { file: name })] : [];
  });
  return sentences.length === 0 ? undefined : [...new Set(sentences)].join('\n\n');
}

function minutesOf(file: FoundFile): number {
  return 'waitMs' in file ? Math.ceil(file.waitMs / MINUTE_MS) : 0;
}

/** A file that the platform only refers to keeps no question from being answered. */
function isElsewhere(file: FoundFile): boolean {
  return 'fault' in file && file.fault === 'elsewhere';
}

function unreadOf({ name }: FoundFile): UnreadPart {
  return { what: 'elsewhere', name };
}

/** What is said beside the answer of files that are stored outside the platform. */
export function elsewhereNotes(found: readonly FoundFile[], language: Language): string[] {
  return unreadNotes({ language, unread: found.filter(isElsewhere).map(unreadOf) });
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

/** What the person is told apart from the answer: macros, pages that nobody here can look at, and what is not kept. */
export function filesNotes(
  { question: { language }, models }: AdmittedContext,
  files: readonly KeptNow[],
  catalog: ModelCatalog,
): string[] {
  const seesNothing = firstThatSees(models, catalog) === undefined;
  const notes = files.flatMap((file) => {
    const named = { file: shownName(file.name, language) };
    const hasScans = file.parts.length > 0 && file.pictures.some(({ isScan }) => isScan);
    return [
      ...(file.hasMacros === true ? [say(FILE_TEXTS.hasMacros, language, named)] : []),
      ...(hasScans && seesNothing ? [say(FILE_TEXTS.unseenPages, language, named)] : []),
      ...(file.keeping === 'no_room' ? [say(FILE_TEXTS.noRoom, language, named)] : []),
    ];
  });
  const haveOlderGone = files.some(({ keeping }) => keeping === 'made_room');
  return haveOlderGone ? [...notes, say(FILE_TEXTS.madeRoom, language)] : notes;
}

/** Of one file; further ones are not named. */
const MOST_PLACES = 6;

/** What of a file was used. */
export function cutNote(file: CutFile, language: Language): string {
  const { name, upTo, places, pageCount } = file;
  if (places !== undefined) return chosenNote({ name, places, pageCount }, language);
  const place = placeIn(upTo, language);
  const isPage = upTo.startsWith('page ') && pageCount !== undefined;
  if (isPage) return say(FILE_TEXTS.cutOfPages, language, { file: name, place, count: pageCount });
  return say(FILE_TEXTS.cut, language, { file: name, place });
}

function chosenNote(
  { name, places, pageCount }: Required<Pick<CutFile, 'name' | 'places'>> & Pick<CutFile, 'pageCount'>,
  language: Language,
): string {
  const shown = places.slice(0, MOST_PLACES).map((place) => rangeIn(place, language));
  const comma = shown.some((place) => place.includes(',')) ? '; ' : ', ';
  const list = shown.join(language === 'zh' ? '、' : comma);
  const told = places.length > MOST_PLACES ? say(FILE_TEXTS.manyPlaces, language, { places: list }) : list;
  const isOfPages = pageCount !== undefined && places.every(({ from }) => from.startsWith('page '));
  if (!isOfPages) return say(FILE_TEXTS.chosen, language, { file: name, places: told });
  return say(FILE_TEXTS.chosenOfPages, language, { file: name, places: told, count: pageCount });
}
