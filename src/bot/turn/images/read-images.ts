import type { EarlierImages } from '../conversation/build-prompt.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { PlacedImage } from '../conversation/prompt-parts.ts';
import { readEarlierImages } from './earlier-images.ts';
import { fetchImages, type ImageScene } from './fetch-images.ts';
import type { ImageRef } from './image-refs.ts';

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
