import type { EarlierImages } from '../conversation/build-prompt.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import type { PlacedImage } from '../conversation/prompt-parts.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import { firstThatSees } from '../answer/pick-model.ts';
import { readEarlierImages } from './earlier-images.ts';
import { fetchImages } from './fetch-images.ts';
import type { SignInMode } from '../turn-ports.ts';
import type { AdmittedContext } from '../turn-context.ts';

/**
 * The images that a turn's prompt shows: the question's own at their places in it, and those of the latest turns, as far
 * as a model that can see may answer this person. @throws ImageRefusedError
 */
export async function readImages(
  { mediaStore: store, catalog, mode }: { mediaStore: MediaStore; catalog: ModelCatalog; mode: SignInMode },
  { question, newest, platform, turn: { conversation }, controls, models, account }: AdmittedContext,
  turns: readonly HistoryTurn[],
): Promise<{ images: PlacedImage[]; earlierImages: EarlierImages }> {
  const personId = personIdOf(newest, newest.sender.userId);
  const isSignedIn = account !== undefined || mode === 'off';
  const context = { platform, store, conversation, personId, isSignedIn };
  const dataUrls = await fetchImages(context, question.images, controls.signal);
  const images = question.images.map(({ place }, index) => ({ place, dataUrl: dataUrls[index] ?? '' }));
  const earlierImages: EarlierImages =
    firstThatSees(models, catalog) !== undefined
      ? await readEarlierImages({ store, partition: conversation.partition, turns })
      : new Map();
  return { images, earlierImages };
}
