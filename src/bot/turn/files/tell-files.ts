import { MIB_BYTES, MINUTE_MS } from '../../../shared/clock.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import { MAX_DOCUMENT_BYTES } from '../../knowledge/documents/document.ts';
import type { Question, UnreadPart } from '../prompt/question.ts';
import { unreadNotes, unreadRefusal } from '../tell-unread.ts';
import { MAX_FILES, type FoundFile, type FetchedFile } from './fetch-files.ts';
import { extentOf, formatPlace, rangeIn, displayFileName } from './file-words.ts';
import type { CutFile } from './fit-attachments.ts';
import type { StoredFile } from './kept-file.ts';

const MAX_MIB = MAX_DOCUMENT_BYTES / MIB_BYTES;

/**
 * @returns the reasons why a question with these files cannot be answered, one sentence per reason
 * @param seesImages whether an allowed model accepts images
 * @param isBare the message contains no question yet, so the files must be stored until it arrives
 */
export function filesObstacle(
  found: readonly FoundFile[],
  { language, seesImages, isBare }: { language: Language; seesImages: boolean; isBare: boolean },
): string | undefined {
  const counted = isBare ? found : found.filter((file) => !isElsewhere(file));
  const sentences = counted.flatMap((file) => {
    const name = displayFileName(file.name, language);
    if ('fault' in file)
      return [
        file.fault === 'elsewhere'
          ? unreadRefusal({ language, unread: [unreadOf(file)] })
          : localize(FILE_TEXTS[file.fault], language, { file: name, minutes: minutesOf(file), size: MAX_MIB }),
      ];
    if (isBare && file.keeping === 'no_room') return [localize(FILE_TEXTS.noRoomUntilAsked, language, { file: name })];
    return file.parts.length === 0 && !seesImages ? [localize(FILE_TEXTS.noModelSees, language, { file: name })] : [];
  });
  return sentences.length === 0 ? undefined : [...new Set(sentences)].join('\n\n');
}

function minutesOf(file: FoundFile): number {
  return 'waitMs' in file ? Math.ceil(file.waitMs / MINUTE_MS) : 0;
}

/** A file that the platform only links to does not prevent an answer. */
function isElsewhere(file: FoundFile): boolean {
  return 'fault' in file && file.fault === 'elsewhere';
}

function unreadOf({ name }: FoundFile): UnreadPart {
  return { what: 'elsewhere', name };
}

/** Notes next to the answer about files that are stored outside the platform. */
export function elsewhereNotes(found: readonly FoundFile[], language: Language): string[] {
  return unreadNotes({ language, unread: found.filter(isElsewhere).map(unreadOf) });
}

/** @returns an error text if there are too many files */
export function tooManyFiles({ files, language }: Pick<Question, 'files' | 'language'>): string | undefined {
  if (files.length <= MAX_FILES) return undefined;
  return localize(FILE_TEXTS.tooMany, language, { count: files.length, most: MAX_FILES });
}

/** Reply to files without a question. */
export function filesReady(files: readonly StoredFile[], language: Language): string {
  const [only] = files;
  const told = (file: StoredFile) => ({ file: displayFileName(file.name, language), extent: extentOf(file, language) });
  if (files.length === 1 && only)
    return localize(only.parts.length === 0 ? FILE_TEXTS.readyScan : FILE_TEXTS.ready, language, told(only));
  const list = files.map((file) => localize(FILE_TEXTS.listed, language, told(file))).join('\n');
  return localize(FILE_TEXTS.readyMany, language, { count: files.length, list });
}

/** Notes next to the answer: macros, pages that no allowed model can see, and files that were not stored. */
export function filesNotes(
  files: readonly FetchedFile[],
  { language, seesImages }: { language: Language; seesImages: boolean },
): string[] {
  const notes = files.flatMap((file) => {
    const named = { file: displayFileName(file.name, language) };
    const hasScans = file.parts.length > 0 && file.pictures.some(({ isScan }) => isScan);
    return [
      ...(file.hasMacros === true ? [localize(FILE_TEXTS.hasMacros, language, named)] : []),
      ...(hasScans && !seesImages ? [localize(FILE_TEXTS.unseenPages, language, named)] : []),
      ...(file.keeping === 'no_room' ? [localize(FILE_TEXTS.noRoom, language, named)] : []),
    ];
  });
  const haveOlderGone = files.some(({ keeping }) => keeping === 'made_room');
  return haveOlderGone ? [...notes, localize(FILE_TEXTS.madeRoom, language)] : notes;
}

/** Maximum places named per file. */
const MAX_PLACES = 6;

/** States which part of a file was used. */
export function cutNote(file: CutFile, language: Language): string {
  const { name, upTo, places, pageCount } = file;
  if (places !== undefined) return chosenNote({ name, places, pageCount }, language);
  const place = formatPlace(upTo, language);
  const isPage = upTo.startsWith('page ') && pageCount !== undefined;
  if (isPage) return localize(FILE_TEXTS.cutOfPages, language, { file: name, place, count: pageCount });
  return localize(FILE_TEXTS.cut, language, { file: name, place });
}

function chosenNote(
  { name, places, pageCount }: Required<Pick<CutFile, 'name' | 'places'>> & Pick<CutFile, 'pageCount'>,
  language: Language,
): string {
  const shown = places.slice(0, MAX_PLACES).map((place) => rangeIn(place, language));
  const comma = shown.some((place) => place.includes(',')) ? '; ' : ', ';
  const list = shown.join(language === 'zh' ? '、' : comma);
  const told = places.length > MAX_PLACES ? localize(FILE_TEXTS.manyPlaces, language, { places: list }) : list;
  const isOfPages = pageCount !== undefined && places.every(({ from }) => from.startsWith('page '));
  if (!isOfPages) return localize(FILE_TEXTS.chosen, language, { file: name, places: told });
  return localize(FILE_TEXTS.chosenOfPages, language, { file: name, places: told, count: pageCount });
}
