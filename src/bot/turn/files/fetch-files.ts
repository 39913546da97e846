import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import { ImageError, type ImageFault } from '../conversation/images/image-error.ts';
import { prepareImage } from '../conversation/images/prepare-image.ts';
import {
  DocumentError,
  MAX_DOCUMENT_BYTES,
  type DocumentFault,
  type ReadDocument,
} from '../../knowledge/documents/document.ts';
import { pictureType } from '../../knowledge/documents/picture-type.ts';
import { readDocument } from '../../knowledge/documents/read-document.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';
import type { InboundMessage } from '../../domain/message.ts';
import { PlatformError } from '../../platforms/platform-error.ts';
import { downloadMedia, mediaFaultOf } from '../images/download-media.ts';
import type { ImageScene } from '../images/fetch-images.ts';
import { joinMessages, type FileRef } from '../images/image-refs.ts';
import { parseStoredFile, serializeStoredFile, type StoredFile, type UnfitFile } from './kept-file.ts';

/** Maximum files per question. A question with more is refused. */
export const MAX_FILES = 5;
/** Maximum stored characters per file: more than any prompt takes, and a part of the limit per person. */
const MAX_KEPT_CHARS = 600_000;
/** Delay of the prefetch, as for images: a turn that starts at once fetches its own files. */
const PREFETCH_AFTER_MS = 3 * SECOND_MS;
const MAX_PREFETCHES = 10;

/** Limits the files in memory at once: two in total, one per person. */
const intake = new SerialQueue(2, 1);

/**
 * Result of reading a file. A `gone` or `unreachable` file may be tried again; an `elsewhere` file is stored outside the
 * platform.
 */
export type FoundFile = FetchedFile | UnfitFile | OutOfReach | Delayed;

interface OutOfReach {
  name?: string;
  fault: 'gone' | 'elsewhere' | 'unreachable';
}

/** A file that is not read yet because its sender's files were too heavy (SECURITY.md heavy-files). */
interface Delayed {
  name?: string;
  fault: 'must_wait';
  waitMs: number;
}

/**
 * A file with the result of storing it, if it was stored in this call. `made_room`: older files of the person were evicted;
 * `no_room`: not stored.
 */
export type FetchedFile = StoredFile & { keeping?: 'made_room' | 'no_room' };

/** The files of a question, in order, from the store or the platform. @throws the signal's reason */
export async function fetchFiles(
  scene: ImageScene,
  files: readonly FileRef[],
  signal: AbortSignal,
): Promise<FoundFile[]> {
  const kept = await readStoredFiles(scene, files);
  return Promise.all(files.map(async (file, index) => kept[index] ?? fetchFile(scene, file, signal)));
}

/** Stored files; undefined for a file that is not stored or has expired. */
export async function readStoredFiles(
  { store, conversation }: Pick<ImageScene, 'store' | 'conversation'>,
  files: readonly FileRef[],
): Promise<(StoredFile | UnfitFile | undefined)[]> {
  const ids = files.map(({ mediaId }) => mediaId);
  const plain = await store.readTexts(conversation.partition, ids);
  return plain.map((text) => (text === undefined ? undefined : parseStoredFile(text)));
}

/** Prefetches the files of a waiting message, as `prefetchImages` does for images. */
export async function prefetchFiles(
  scene: ImageScene,
  { message, deliveryId, isKnown }: { message: InboundMessage; deliveryId: DeliveryId; isKnown(): Promise<boolean> },
): Promise<void> {
  const { files } = joinMessages([{ message, deliveryId }]);
  if (files.length === 0 || files.length > MAX_FILES) return;
  await sleep(PREFETCH_AFTER_MS, undefined, { ref: false });
  if (intake.unfinished + files.length > MAX_PREFETCHES || !(await isKnown().catch(() => false))) return;
  await fetchFiles(scene, files, new AbortController().signal).catch(() => undefined);
}

async function fetchFile(
  scene: ImageScene,
  { mediaId, mediaRef, name, sharedBy }: FileRef,
  signal: AbortSignal,
): Promise<FoundFile> {
  if (mediaRef === undefined) return { name, fault: 'gone' };
  const { platform, store, conversation, personId, isSignedIn } = scene;
  const senderId = sharedBy ?? personId;
  return intake.run(personId, async () => {
    // Another worker or the receiver may have read the file, even while this call waited.
    const [known] = await readStoredFiles(scene, [{ mediaId, isQuoted: false }]);
    if (known) return known;
    const waitMs = await store.heavyFiles.waitMs(senderId);
    if (waitMs !== undefined) return { name, fault: 'must_wait', waitMs };
    const onHeavy = () => store.heavyFiles.note(senderId, mediaId);
    const found = await readFile(platform, { mediaRef, name, personId, onHeavy }, signal);
    if ('fault' in found && isPassing(found)) return found;
    const place = { partition: conversation.partition, personId: senderId, isSignedIn, mediaId };
    if (sharedBy !== undefined) {
      // Only the fault, so that the next question of the thread does not try the file again.
      if ('fault' in found) await store.storeText(place, serializeStoredFile({ fault: found.fault }));
      return found;
    }
    const { isStored, evictedCount } = await store.storeText(place, serializeStoredFile(found));
    if ('fault' in found || (isStored && evictedCount === 0)) return found;
    return { ...found, keeping: isStored ? 'made_room' : 'no_room' };
  });
}

/** Faults that are not stored, because another attempt may succeed. */
function isPassing(found: UnfitFile | OutOfReach): found is OutOfReach {
  return ['gone', 'elsewhere', 'unreachable', 'not_read'].includes(found.fault);
}

interface WantedFile {
  mediaRef: string;
  name?: string;
  personId: PersonId;
  /** Called if reading the document takes too much time or memory. */
  onHeavy(): Promise<void>;
}

async function readFile(
  platform: ImageScene['platform'],
  { mediaRef, name, personId: owner, onHeavy }: WantedFile,
  signal: AbortSignal,
): Promise<StoredFile | UnfitFile | OutOfReach> {
  let called = name;
  try {
    const { bytes, name: given } = await outsideCall('files.fetch', () =>
      downloadMedia(platform, mediaRef, MAX_DOCUMENT_BYTES, signal),
    );
    called ??= given;
    if (pictureType(bytes) !== undefined) return { name: called, ...(await readPicture(bytes, owner, signal)) };
    const document = await outsideCall('files.read', () => readDocument(bytes, { name: called ?? '' }, owner, signal));
    return { name: called, ...withinKept(document), pictures: await preparePictures(document, owner, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof DocumentError && error.code === 'too_heavy') await onHeavy();
    if (error instanceof DocumentError) return { name: called, fault: error.code };
    if (error instanceof ImageError) return { name: called, fault: PICTURE_FAULTS[error.code] };
    if (error instanceof PlatformError) return { name: called, fault: mediaFaultOf(error) };
    throw error;
  }
}

/** Faults of a picture that was sent as a file. */
const PICTURE_FAULTS: Readonly<Record<ImageFault, DocumentFault>> = {
  too_large: 'too_heavy',
  unknown_type: 'unsupported',
  too_many_pixels: 'too_heavy',
  too_heavy: 'too_heavy',
  broken: 'broken',
  not_read: 'not_read',
};

/** Apps also send pictures as files, and describe some files only by their existence. @throws ImageError */
async function readPicture(bytes: Buffer, owner: string, signal: AbortSignal): Promise<Omit<StoredFile, 'name'>> {
  return { parts: [], pictures: [{ label: 'image', dataUrl: await prepareImage(bytes, owner, signal), isScan: true }] };
}

/** The part of a document's text that is stored, with the place at which it ends. */
function withinKept({ parts, cutAt, pageCount, hasMacros }: ReadDocument): Omit<StoredFile, 'pictures' | 'name'> {
  let left = MAX_KEPT_CHARS;
  const fits = parts.flatMap((part) => {
    const text = part.text.slice(0, Math.max(left, 0));
    left -= part.text.length;
    return text === '' ? [] : [{ label: part.label, text }];
  });
  const isCut = left < 0;
  return { parts: fits, cutAt: isCut ? (fits.at(-1)?.label ?? 'the beginning') : cutAt, pageCount, hasMacros };
}

/** A picture that cannot be shown is omitted; the document is read without it. */
async function preparePictures(
  { pictures, parts }: ReadDocument,
  owner: string,
  signal: AbortSignal,
): Promise<StoredFile['pictures']> {
  const said = new Set(parts.map(({ label }) => label));
  const made = await Promise.all(
    pictures.map(async ({ label, bytes }) => {
      try {
        const dataUrl = await prepareImage(Buffer.from(bytes), owner, signal);
        return [{ label, dataUrl, isScan: label.startsWith('page ') && !said.has(label) }];
      } catch (error) {
        if (error instanceof ImageError) return [];
        throw error;
      }
    }),
  );
  return made.flat();
}
