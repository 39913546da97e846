import type { ImagePlace } from '../conversation/history.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';

/** An image of a question: its name in the store, and its platform reference unless the question is too old. */
export interface ImageRef {
  mediaId: string;
  mediaRef?: string;
  place: ImagePlace;
}

/**
 * A file of a question: its name in the store, its platform reference unless the question is too old, and its file name, if
 * known.
 */
export interface FileRef {
  mediaId: string;
  mediaRef?: string;
  name?: string;
  isQuoted: boolean;
  /** Set for a file that a thread shows: the person who sent it. Its text is used once and not stored (SECURITY.md own-files). */
  sharedBy?: PersonId;
}

/**
 * Joined contents of the messages of one question: the text, the images with their positions in it (quoted images first),
 * and the files.
 */
export interface Said {
  text: string;
  images: ImageRef[];
  files: FileRef[];
}

/** Joins messages in order: one text with a line per part, and the position of each image in it. */
export function joinMessages(messages: readonly { message: InboundMessage; deliveryId: DeliveryId }[]): Said {
  const quoted: ImageRef[] = [];
  const said: (ImageRef & { place: number })[] = [];
  const files: FileRef[] = [];
  const texts: string[] = [];
  let lengthChars = 0;
  for (const { message, deliveryId } of messages) {
    let count = 0;
    const refOf = (mediaRef: string) => ({ mediaId: `${deliveryId}:${count++}`, mediaRef });
    for (const part of message.quote ?? []) {
      if (part.type === 'image') quoted.push({ ...refOf(part.mediaRef), place: 'quote' });
      if (part.type === 'file') files.push({ ...refOf(part.mediaRef), name: part.name, isQuoted: true });
    }
    for (const part of message.parts) {
      if (part.type === 'file') files.push({ ...refOf(part.mediaRef), name: part.name, isQuoted: false });
      if (part.type === 'image') said.push({ ...refOf(part.mediaRef), place: lengthChars });
      if (part.type !== 'text') continue;
      lengthChars += part.text.length + (texts.length > 0 ? 1 : 0);
      texts.push(part.text);
    }
  }
  const whole = texts.join('\n');
  const text = whole.trim();
  const cutChars = whole.length - whole.trimStart().length;
  const placed = said.map((image) => ({
    ...image,
    place: Math.min(Math.max(image.place - cutChars, 0), text.length),
  }));
  return { text, images: [...quoted, ...placed], files };
}
