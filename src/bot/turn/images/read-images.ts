import type { EarlierImages } from '../conversation/build-prompt.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { PlacedImage } from '../conversation/prompt-parts.ts';
import { fetchImages, type ImageScene } from './fetch-images.ts';
import type { ImageRef } from './image-refs.ts';
import { MIB_BYTES } from '../../../shared/clock.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import { imagesOfTurn } from '../prompt/turn-history.ts';

/**
 * The images in the prompt of a turn: the question's own with their positions, and, if an allowed model can see, those of
 * the latest turns. @throws ImageRefusedError
 */
export async function readImages(
  scene: ImageScene,
  { own, turns, seesImages }: { own: readonly ImageRef[]; turns: readonly HistoryTurn[]; seesImages: boolean },
  signal: AbortSignal,
): Promise<{ images: PlacedImage[]; earlierImages: EarlierImages }> {
  const dataUrls = await fetchImages(scene, own, signal);
  const images = own.map(({ place }, index) => ({ place, dataUrl: dataUrls[index] ?? '' }));
  const { store, conversation } = scene;
  const earlierImages: EarlierImages = seesImages
    ? await readEarlierImages({ store, partition: conversation.partition, turns })
    : new Map();
  return { images, earlierImages };
}

/**
 * Number of latest turns whose images are sent again. People ask follow-up questions soon; sending images forever would make
 * every later answer slow and expensive.
 */
const LATEST_TURNS = 3;
/**
 * Maximum size of earlier images in a request, as data URLs: about three photographs. The question's own images take up to 8
 * MB in addition.
 */
const EARLIER_BUDGET_BYTES = 2 * MIB_BYTES;
/** Encryption encodes three bytes as four characters. */
const SEALED_SHARE = 3 / 4;

interface EarlierScene {
  store: MediaStore;
  partition: number;
  /** Earlier turns, oldest first; turns without an answer are not part of any prompt. */
  turns: readonly HistoryTurn[];
}

/**
 * Images of the latest turns that are sent again for follow-up questions: whole turns, newest first, within a byte budget,
 * as long as all images of a turn are still stored. Two round trips if there are any, otherwise none.
 */
async function readEarlierImages({ store, partition, turns }: EarlierScene): Promise<EarlierImages> {
  const latest = turns
    .filter(({ assistantText }) => assistantText !== '')
    .slice(-LATEST_TURNS)
    .map((turn) => ({ turn, images: imagesOfTurn(turn) }))
    .filter(({ images }) => images.length > 0)
    .toReversed();
  const mediaIds = latest.flatMap(({ images }) => images.map(({ mediaId }) => mediaId));
  if (mediaIds.length === 0) return new Map();
  const sizes = await store.sizesBytes(partition, mediaIds);
  const sizeOf = new Map(mediaIds.map((mediaId, index) => [mediaId, sizes[index] ?? 0]));

  let leftBytes = EARLIER_BUDGET_BYTES;
  const affordable = latest.filter(({ images }) => {
    const sealed = images.map(({ mediaId }) => sizeOf.get(mediaId) ?? 0);
    if (sealed.includes(0)) return false;
    // Once a turn does not fit, no older turn is sent instead.
    leftBytes -= sealed.reduce((sum, bytes) => sum + bytes, 0) * SEALED_SHARE;
    return leftBytes >= 0;
  });
  const found = await Promise.all(
    affordable.map(async ({ turn, images }): Promise<[string, PlacedImage[]][]> => {
      const kept = await store.read(
        partition,
        images.map(({ mediaId }) => mediaId),
      );
      const whole = images.flatMap(({ place }, index): PlacedImage[] => {
        const image = kept[index];
        return image !== undefined && 'dataUrl' in image ? [{ dataUrl: image.dataUrl, place }] : [];
      });
      return whole.length === images.length ? [[turn.turnId, whole]] : [];
    }),
  );
  return new Map(found.flat());
}
