import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import type { KeptFile } from '../files/kept-file.ts';
import { readOwnFiles } from '../files/read-files.ts';
import { elsewhereNotes, filesNotes, filesObstacle, filesReady, tooManyFiles } from '../files/tell-files.ts';
import { sayTo } from '../translate.ts';
import type { AdmittedContext } from '../turn-context.ts';
import type { SignInMode } from '../turn-ports.ts';

/** `ready`: files came alone, and the text is all that is said of them; `read`: the question may be asked. */
type FilesRead =
  | { kind: 'stopped' }
  | { kind: 'refused'; context: AdmittedContext; text: string }
  | { kind: 'ready'; context: AdmittedContext; text: string; notes: string[] }
  | { kind: 'read'; context: AdmittedContext; files: KeptFile[]; notes: string[] };

interface QuestionFilesOptions {
  mediaStore: MediaStore;
  mode: SignInMode;
  catalog: ModelCatalog;
}

/**
 * Reads a question's files before the model is asked. @returns also the context in which each of them has its name, which a
 * platform may tell only with its bytes @param isBare nothing is asked
 */
export async function readQuestionFiles(
  options: QuestionFilesOptions,
  context: AdmittedContext,
  isBare: boolean,
): Promise<FilesRead> {
  const { question, live, controls } = context;
  if (question.files.length === 0) return { kind: 'read', context, files: [], notes: [] };
  const tooMany = tooManyFiles(context);
  if (tooMany !== undefined) return { kind: 'refused', context, text: tooMany };
  live.show({ text: '', status: sayTo(context, FILE_TEXTS.reading) });
  const found = await readOwnFiles(options, context).catch((error: unknown) => {
    if (controls.signal.reason === 'stopped') return undefined;
    throw error;
  });
  if (!found) return { kind: 'stopped' };
  const files = question.files.map((file, index) => ({ ...file, name: file.name ?? found[index]?.name }));
  const named = { ...context, question: { ...question, files } };
  const obstacle = filesObstacle(named, found, { catalog: options.catalog, isBare });
  if (obstacle !== undefined) return { kind: 'refused', context: named, text: obstacle };
  const kept = found.flatMap((file) => ('fault' in file ? [] : [file]));
  const notes = [...elsewhereNotes(found, question.language), ...filesNotes(named, kept, options.catalog)];
  return isBare
    ? { kind: 'ready', context: named, text: filesReady(kept, question.language), notes }
    : { kind: 'read', context: named, files: kept, notes };
}
