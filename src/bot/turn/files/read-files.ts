import type { HistoryTurn } from '../conversation/history.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { ImageScene } from '../images/fetch-images.ts';
import { filesOfTurn, speakerTagOf } from '../prompt/turn-history.ts';
import type { AdmittedContext } from '../turn-context.ts';
import type { SignInMode } from '../turn-ports.ts';
import { fetchFiles, keptFiles, type FoundFile } from './fetch-files.ts';
import type { KeptFile } from './kept-file.ts';

interface FilesOptions {
  mediaStore: MediaStore;
  mode: SignInMode;
}

/** Files of earlier questions that go along again: the newest. */
const MOST_EARLIER = 4;

/** The files that came with the question, as they were read. @throws the signal's reason */
export function readOwnFiles(options: FilesOptions, context: AdmittedContext): Promise<FoundFile[]> {
  return fetchFiles(sceneOf(options, context), context.question.files, context.controls.signal);
}

/** Files of earlier questions as they are handed to a model again. */
export interface EarlierFiles {
  /** Oldest first. */
  files: KeptFile[];
  /** The names under which they are kept: of all others the model is told that they are not at hand. */
  mediaIds: ReadonlySet<string>;
}

/**
 * The files of earlier questions that are still kept. In a group only those of whoever asks: what somebody gave the
 * bot is not handed to another (SECURITY.md own-files).
 * @param own those of the question itself: what is quoted or sent once more is not handed over twice
 */
export async function readEarlierFiles(
  options: FilesOptions,
  context: AdmittedContext,
  { turns, own: ownFiles }: { turns: readonly HistoryTurn[]; own: readonly KeptFile[] },
): Promise<EarlierFiles> {
  const own = context.newest.chat.kind === 'group' ? speakerTagOf(context) : undefined;
  const refs = turns.filter((turn) => turn.assistantText !== '' && turn.speakerTag === own).flatMap(filesOfTurn);
  const latest = refs.slice(-MOST_EARLIER);
  if (latest.length === 0) return { files: [], mediaIds: new Set() };
  const found = await keptFiles(sceneOf(options, context), latest);
  const readable = found.flatMap((file, index) =>
    file === undefined || 'fault' in file ? [] : [{ file, mediaId: latest[index]?.mediaId ?? '' }],
  );
  const files = readable.map(({ file }) => file);
  const isNews = (file: KeptFile, index: number) =>
    ![...files.slice(index + 1), ...ownFiles].some((other) => isSame(file, other));
  return { files: files.filter(isNews), mediaIds: new Set(readable.map(({ mediaId }) => mediaId)) };
}

/** Whether two files have the same name and say the same. */
function isSame(one: KeptFile, other: KeptFile): boolean {
  return (
    one.name === other.name &&
    one.parts.length === other.parts.length &&
    one.pictures.length === other.pictures.length &&
    one.parts.every(({ text }, index) => text === other.parts[index]?.text) &&
    one.pictures.every(({ dataUrl }, index) => dataUrl === other.pictures[index]?.dataUrl)
  );
}

function sceneOf(
  { mediaStore: store, mode }: FilesOptions,
  { newest, platform, turn: { conversation }, account }: AdmittedContext,
): ImageScene {
  const personId = personIdOf(newest, newest.sender.userId);
  return { platform, store, conversation, personId, isSignedIn: account !== undefined || mode === 'off' };
}
