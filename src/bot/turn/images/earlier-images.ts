import { MIB_BYTES } from '../../../shared/clock.ts';
import type { EarlierImages } from '../conversation/build-prompt.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import type { PlacedImage } from '../conversation/prompt-parts.ts';
import { imagesOfTurn } from '../prompt/turn-history.ts';

/** People ask on about a picture at once; a picture that is sent for ever makes every later answer slow and dear. */
const LATEST_TURNS = 3;
/** What earlier images may add to a request, as data URLs: about three photographs. A question's own take up to 8 MB beside. */
const EARLIER_BUDGET_BYTES = 2 * MIB_BYTES;
/** Sealing writes three bytes as four letters. */
const SEALED_SHARE = 3 / 4;

interface EarlierScene {
  store: MediaStore;
  partition: number;
  /** Earlier turns, oldest first; those without an answer enter no prompt. */
  turns: readonly HistoryTurn[];
}

/**
 * The images of the latest turns that are sent again, so that people can ask on about them: whole turns, newest first,
 * within a budget of bytes, as long as all of a turn's images are still kept. Two round trips where there are any, else none.
 */
export async function readEarlierImages({ store, partition, turns }: EarlierScene): Promise<EarlierImages> {
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
    // Once a turn does not fit, no older one is sent in its place.
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
