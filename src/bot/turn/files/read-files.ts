import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { ImageScene } from '../images/fetch-images.ts';
import type { FileRef } from '../images/image-refs.ts';
import type { Question } from '../prompt/question.ts';
import { filesOfTurn } from '../prompt/turn-history.ts';
import type { FilesAtHand } from '../conversation/build-prompt.ts';
import { fetchFiles, readStoredFiles } from './fetch-files.ts';
import type { StoredFile } from './kept-file.ts';
import { neededFiles } from './needed-files.ts';
import { elsewhereNotes, filesNotes, filesObstacle, filesReady, tooManyFiles } from './tell-files.ts';

/** Maximum files of earlier questions that are included again; the newest ones. */
const MAX_EARLIER = 4;

/**
 * Files of a question. `refs` has all file names, since some platforms provide a name only with the file content. `ended`:
 * only files were sent, or the user stopped the turn; the text is the whole reply. `read`: the question can be answered.
 */
export type QuestionFiles = { refs: FileRef[] } & (
  | { kind: 'refused'; text: string }
  | { kind: 'ended'; text: string; ending: 'whole' | 'stopped'; notes: string[] }
  | { kind: 'read'; files: StoredFile[]; notes: string[] }
);

export interface QuestionFilesOptions {
  scene: ImageScene;
  voice: Voice;
  /** Whether an allowed model accepts images. */
  seesImages: boolean;
  /** The message contains no question. */
  isBare: boolean;
  showStatus(status: string): void;
}

/** Reads the files of a question before the model is called. @throws the signal's reason, unless it is `stopped` */
export async function readQuestionFiles(
  { scene, voice, seesImages, isBare, showStatus }: QuestionFilesOptions,
  question: Pick<Question, 'files' | 'language'>,
  signal: AbortSignal,
): Promise<QuestionFiles> {
  const { language, files: refs } = question;
  if (refs.length === 0) return { kind: 'read', refs, files: [], notes: [] };
  const tooMany = tooManyFiles(question);
  if (tooMany !== undefined) return { kind: 'refused', refs, text: tooMany };
  showStatus(localizeForChat(FILE_TEXTS.reading, voice));
  const found = await fetchFiles(scene, refs, signal).catch((error: unknown) => {
    if (signal.reason === 'stopped') return undefined;
    throw error;
  });
  if (!found) return { kind: 'ended', refs, text: '', ending: 'stopped', notes: [] };
  const named = refs.map((file, index) => ({ ...file, name: file.name ?? found[index]?.name }));
  const obstacle = filesObstacle(found, { language, seesImages, isBare });
  if (obstacle !== undefined) return { kind: 'refused', refs: named, text: obstacle };
  const files = found.flatMap((file) => ('fault' in file ? [] : [file]));
  const notes = [...elsewhereNotes(found, language), ...filesNotes(files, { language, seesImages })];
  return isBare
    ? { kind: 'ended', refs: named, text: filesReady(files, language), ending: 'whole', notes }
    : { kind: 'read', refs: named, files, notes };
}

/** Files of earlier questions that the prompt includes again. */
export interface EarlierFiles {
  /** Oldest first. */
  files: StoredFile[];
  /** Files that are stored, by media id. The model is told that all others are no longer available. */
  atHand: FilesAtHand;
}

export interface EarlierFilesOptions {
  turns: readonly HistoryTurn[];
  /** In a group, the tag of the user who asks. */
  speakerTag?: string;
  /** Files of the question itself; a file that is quoted or sent again is included only once. */
  own: readonly StoredFile[];
  /** Text of the question with its quote. */
  question: string;
}

/**
 * Stored files of earlier questions that this question needs. In a group only those of the user who asks; files of others
 * are read only where a thread shows them (SECURITY.md own-files).
 */
export async function readEarlierFiles(
  scene: ImageScene,
  { turns, speakerTag, own, question }: EarlierFilesOptions,
): Promise<EarlierFiles> {
  const ofAsker = turns.filter((turn) => turn.assistantText !== '' && turn.speakerTag === speakerTag);
  const refs = ofAsker.flatMap(filesOfTurn);
  const latest = refs.slice(-MAX_EARLIER);
  if (latest.length === 0) return { files: [], atHand: new Map() };
  const found = await readStoredFiles(scene, latest);
  const readable = found.flatMap((file, index) =>
    file === undefined || 'fault' in file ? [] : [{ file, mediaId: latest[index]?.mediaId ?? '' }],
  );
  const needed = await neededFiles(
    readable.map(({ file }) => file),
    question,
  );
  // Files that were sent without a question are for the next one.
  const lastAsked = ofAsker.findLastIndex(({ userText }) => userText !== '');
  const unasked = new Set(
    ofAsker.slice(lastAsked + 1).flatMap((turn) => filesOfTurn(turn).map(({ mediaId }) => mediaId)),
  );
  const isShown = readable.map(({ mediaId }, index) => needed[index] === true || unasked.has(mediaId));
  const files = readable.flatMap(({ file }, index) => (isShown[index] === true ? [file] : []));
  const isNews = (file: StoredFile, index: number) =>
    ![...files.slice(index + 1), ...own].some((other) => isSame(file, other));
  const stateOf = (index: number) => (isShown[index] === true ? 'shown' : 'left-out');
  return {
    files: files.filter(isNews),
    atHand: new Map(readable.map(({ mediaId }, index) => [mediaId, stateOf(index)])),
  };
}

/** Whether two files have the same name and content. */
export function isSame(one: StoredFile, other: StoredFile): boolean {
  return (
    one.name === other.name &&
    one.parts.length === other.parts.length &&
    one.pictures.length === other.pictures.length &&
    one.parts.every(({ text }, index) => text === other.parts[index]?.text) &&
    one.pictures.every(({ dataUrl }, index) => dataUrl === other.pictures[index]?.dataUrl)
  );
}
