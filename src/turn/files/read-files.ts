import type { HistoryTurn } from '../../conversation/history.ts';
import type { MediaStore } from '../../conversation/images/media-store.ts';
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

/**
 * The files of earlier questions that are still kept, oldest first. In a group only those of whoever asks: what somebody gave the
 * bot is not handed to another (SECURITY.md own-files).
 */
export async function readEarlierFiles(
  options: FilesOptions,
  context: AdmittedContext,
  turns: readonly HistoryTurn[],
): Promise<KeptFile[]> {
  const own = context.newest.chat.kind === 'group' ? speakerTagOf(context) : undefined;
  const refs = turns.filter((turn) => turn.assistantText !== '' && turn.speakerTag === own).flatMap(filesOfTurn);
  const latest = refs.slice(-MOST_EARLIER);
  if (latest.length === 0) return [];
  const found = await keptFiles(sceneOf(options, context), latest);
  return found.flatMap((file) => (file === undefined || 'fault' in file ? [] : [file]));
}

function sceneOf(
  { mediaStore: store, mode }: FilesOptions,
  { newest, platform, turn: { conversation }, account }: AdmittedContext,
): ImageScene {
  const personId = personIdOf(newest, newest.sender.userId);
  return { platform, store, conversation, personId, isSignedIn: account !== undefined || mode === 'off' };
}
