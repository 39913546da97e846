import type { EarlierImages } from '../conversation/build-prompt.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import type { PlacedImage } from '../conversation/prompt-parts.ts';
import { personIdOf } from '../platforms/conversation-key.ts';
import { maySee } from './choose-model.ts';
import { readEarlierImages } from './earlier-images.ts';
import { fetchImages } from './fetch-images.ts';
import type { AdmittedScene } from './run-turn.ts';

/**
 * The images that a turn's prompt shows: the question's own at their places in it, and those of the latest turns, as far
 * as a model that can see may answer this person. @throws ImageRefusedError
 */
export async function readImages(
  { mediaStore: store, visionModel }: { mediaStore: MediaStore; visionModel: string },
  { question, newest, platform, turn: { conversation }, controls, models }: AdmittedScene,
  turns: readonly HistoryTurn[],
): Promise<{ images: PlacedImage[]; earlierImages: EarlierImages }> {
  const personId = personIdOf(newest, newest.sender.userId);
  const dataUrls = await fetchImages({ platform, store, conversation, personId }, question.images, controls.signal);
  const images = question.images.map(({ place }, index) => ({ place, dataUrl: dataUrls[index] ?? '' }));
  const earlierImages: EarlierImages = maySee(models, visionModel)
    ? await readEarlierImages({ store, partition: conversation.partition, turns })
    : new Map();
  return { images, earlierImages };
}
