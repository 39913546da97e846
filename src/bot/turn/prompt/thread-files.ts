import { abortAfter } from '../../../shared/abort-after.ts';
import { MIB_BYTES, MINUTE_MS } from '../../../shared/clock.ts';
import { abortable } from '../../../shared/abortable.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { PersonId } from '../../domain/ids.ts';
import type { InboundMessage } from '../../domain/message.ts';
import { THREAD_TEXTS } from '../../i18n/thread-texts.ts';
import { PlatformError } from '../../platforms/platform-error.ts';
import type { EarlierImages, FilesAtHand } from '../conversation/build-prompt.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import { messagesOf } from '../conversation/turns-of-message.ts';
import { fetchFiles, type FoundFile } from '../files/fetch-files.ts';
import { displayFileName } from '../files/file-words.ts';
import type { SharedFile, StoredFile } from '../files/kept-file.ts';
import { neededFiles } from '../files/needed-files.ts';
import { isSame } from '../files/read-files.ts';
import type { ImageScene } from '../images/fetch-images.ts';
import { filesOfTurn } from './turn-history.ts';
import { sharedMediaId, type SeenEntry, type SeenMessage } from './thread-context.ts';

/** Maximum files and pictures of a thread that a question reads, the newest ones. */
const MAX_SHARED = 5;
/** Maximum bytes that a question downloads from its thread. */
const MAX_SHARED_BYTES = 40 * MIB_BYTES;
/** The answer does not wait longer for the files of its thread. */
const TIME_LIMIT_MS = MINUTE_MS;
/** Maximum files that a note names. */
const MAX_NAMED = 8;

/** The files and pictures of a thread for one question. */
export interface ThreadFiles {
  /** Those that the question may need, oldest first. */
  files: SharedFile[];
  /** Their names in the store (`sharedMediaId`). */
  shown: ReadonlySet<string>;
  /** The files of earlier questions that the prompt contains, also as files of the thread. */
  filesAtHand: FilesAtHand;
  /** Notes that name the files that were used and those that were not read. */
  notes: string[];
}

export interface ThreadFilesOptions {
  seen: readonly SeenEntry[];
  newest: InboundMessage;
  /** Text of the question with its quote. */
  question: string;
  language: Language;
  /** Whether an allowed model accepts images. */
  seesImages: boolean;
  known: KnownAttachments;
  showStatus(): void;
}

/** Attachments that the prompt contains without the thread. */
interface KnownAttachments {
  files: readonly StoredFile[];
  /** Earlier turns, whose files the prompt names. */
  turns: readonly HistoryTurn[];
  filesAtHand: FilesAtHand;
  /** Turns whose images are sent again. */
  earlierImages: EarlierImages;
}

/**
 * Reads the newest files and pictures that a thread shows to everyone in it, with the readers and limits of attached files,
 * for one question. Their contents are not stored (SECURITY.md own-files). @throws the signal's reason
 */
export async function readThreadFiles(
  scene: ImageScene,
  options: ThreadFilesOptions,
  signal: AbortSignal,
): Promise<ThreadFiles> {
  const { language, question, known } = options;
  const found = sharedFiles(options);
  if (found.length === 0) return { files: [], shown: new Set(), filesAtHand: known.filesAtHand, notes: [] };
  const wanted = found.filter(({ isPicture }) => options.seesImages || !isPicture).slice(0, MAX_SHARED);
  if (wanted.length > 0) options.showStatus();
  const read = await fetchAll({ ...scene, platform: withinBytes(scene.platform, MAX_SHARED_BYTES) }, wanted, signal);
  const readable = read.filter(
    (one): one is ReadShared => 'parts' in one.file && (options.seesImages || one.file.parts.length > 0),
  );
  const needed = await neededFiles(
    readable.map(({ file }) => file),
    question,
  );
  const isNews = ({ file }: ReadShared, index: number) =>
    ![...readable.slice(0, index).map((one) => one.file), ...known.files].some((other) => isSame(file, other));
  const shown = readable.filter((one, index) => needed[index] === true && isNews(one, index));
  const missing = found.filter((one) => !readable.some(({ ref }) => ref.mediaId === one.mediaId));
  return {
    files: shown.map(({ file, ref }): SharedFile => ({ ...file, from: ref.from })).toReversed(),
    shown: new Set(shown.map(({ ref }) => ref.mediaId)),
    filesAtHand: new Map([...known.filesAtHand, ...turnFilesAmong(readable, shown, options)]),
    notes: [
      ...note('filesRead', shown.map(({ ref }) => ref).toReversed(), language),
      ...note('filesUnread', missing.toReversed(), language),
    ],
  };
}

/** The files of earlier questions that were read from the thread. */
function turnFilesAmong(
  readable: readonly ReadShared[],
  shown: readonly ReadShared[],
  { known: { turns }, language }: ThreadFilesOptions,
): [string, 'shown' | 'left-out'][] {
  return turns.flatMap(filesOfTurn).flatMap(({ mediaId, name }) => {
    const [id = ''] = mediaId.split(':');
    const same = readable.find(
      ({ ref }) => ref.mediaId.startsWith(`${id}:`) && displayFileName(ref.name, language) === name,
    );
    return same ? [[mediaId, shown.includes(same) ? 'shown' : 'left-out']] : [];
  });
}

/** A file or picture of a thread. */
interface SharedRef {
  mediaId: string;
  mediaRef: string;
  name: string | undefined;
  isPicture: boolean;
  sharedBy: PersonId;
  /** Name of the sender in the prompt, and in a note. */
  from: string;
  knownName: string | undefined;
}

interface ReadShared {
  ref: SharedRef;
  file: StoredFile;
}

/** Newest first. */
function sharedFiles({ seen, newest, known }: ThreadFilesOptions): SharedRef[] {
  const resent = new Set(known.turns.filter(({ turnId }) => known.earlierImages.has(turnId)).flatMap(messagesOf));
  const messages = seen.filter((one): one is SeenMessage => one.kind === 'message').toReversed();
  return messages.flatMap((one) => {
    const { message, writer, id } = one;
    const isAtHand = [...known.filesAtHand.keys()].some((mediaId) => mediaId.startsWith(`${id}:`));
    const sender = message.writer.kind === 'person' ? message.writer.userId : `app:${writer.name}`;
    return message.parts.flatMap((part): SharedRef[] => {
      if (part.type !== 'file' && part.type !== 'image') return [];
      // The prompt contains these as attachments of earlier questions.
      if (part.type === 'image' ? resent.has(id) : isAtHand) return [];
      return [
        {
          ...{ mediaId: sharedMediaId(id, part), mediaRef: part.mediaRef, name: part.name },
          ...{ isPicture: part.type === 'image', sharedBy: personIdOf(newest, sender) },
          ...{ from: writer.name, knownName: writer.isAsker ? undefined : writer.knownName },
        },
      ];
    });
  });
}

/** Reads one file after the other. If the platform delivers one not in time, the others are not tried. @throws the signal's reason */
async function fetchAll(
  scene: ImageScene,
  wanted: readonly SharedRef[],
  signal: AbortSignal,
): Promise<{ ref: SharedRef; file: FoundFile }[]> {
  const limited = abortAfter(TIME_LIMIT_MS, signal);
  const read: { ref: SharedRef; file: FoundFile }[] = [];
  for (const ref of wanted) {
    const { mediaId, mediaRef, name, sharedBy } = ref;
    try {
      const fetched = fetchFiles(scene, [{ mediaId, mediaRef, name, sharedBy, isQuoted: false }], limited);
      const [file] = await abortable(fetched, limited);
      if (file) read.push({ ref: { ...ref, name: name ?? file.name }, file });
      if (file && 'fault' in file && file.fault === 'unreachable') return read;
    } catch (error) {
      signal.throwIfAborted();
      if (limited.aborted) return read;
      throw error;
    }
  }
  return read;
}

/** Limits the bytes of all downloads together. */
function withinBytes(platform: ImageScene['platform'], maxBytes: number): ImageScene['platform'] {
  let leftBytes = maxBytes;
  return {
    async fetchMedia(mediaRef, maxBytes, signal) {
      const roomBytes = Math.min(maxBytes, leftBytes);
      if (roomBytes <= 0) throw new PlatformError('media_gone', 'The files of the thread are too large together');
      try {
        const fetched = await platform.fetchMedia(mediaRef, roomBytes, signal);
        leftBytes -= fetched.bytes.length;
        return fetched;
      } catch (error) {
        if (!(error instanceof PlatformError) || error.code !== 'media_too_large') throw error;
        leftBytes -= roomBytes;
        if (roomBytes === maxBytes) throw error;
        throw new PlatformError('media_gone', 'The files of the thread are too large together');
      }
    },
  };
}

function note(key: 'filesRead' | 'filesUnread', refs: readonly SharedRef[], language: Language): string[] {
  if (refs.length === 0) return [];
  const named = refs.slice(0, MAX_NAMED).map(({ name, knownName, isPicture }) => {
    const file =
      name === undefined && isPicture
        ? localize(THREAD_TEXTS.picture, language)
        : localize(THREAD_TEXTS.file, language, { file: displayFileName(name, language) });
    return knownName === undefined ? file : localize(THREAD_TEXTS.fileFrom, language, { file, name: knownName });
  });
  const files = named.join(language === 'zh' ? '、' : ', ');
  const more = refs.length - named.length;
  const all = more === 0 ? files : localize(THREAD_TEXTS.moreFiles, language, { files, more });
  return [localize(THREAD_TEXTS[key], language, { files: all })];
}
