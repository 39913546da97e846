import type { ImagePlace } from '../conversation/history.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { DeliveryId } from '../../domain/ids.ts';

/** An image of a question: where it is kept, and where the platform has it unless that is long ago. */
export interface ImageRef {
  mediaId: string;
  mediaRef?: string;
  place: ImagePlace;
}

/** A file of a question: where what it says is kept, where the platform has it unless that is long ago, and its name, if known. */
export interface FileRef {
  mediaId: string;
  mediaRef?: string;
  name?: string;
  isQuoted: boolean;
}

/** What is said in messages that make one question: their text, their images at their places in it, the quoted ones first, and their files. */
export interface Said {
  text: string;
  images: ImageRef[];
  files: FileRef[];
}

/** The images of a message, the quoted ones first, each with the name under which it is kept. */
export function imageRefsOf(message: InboundMessage, deliveryId: DeliveryId): ImageRef[] {
  return joinSaid([{ message, deliveryId }]).images;
}

/** The files of a message, as `imageRefsOf`. */
export function fileRefsOf(message: InboundMessage, deliveryId: DeliveryId): FileRef[] {
  return joinSaid([{ message, deliveryId }]).files;
}

/** Joins messages in the order in which they were said: one text with a line for each piece, and where each image stood in it. */
export function joinSaid(messages: readonly { message: InboundMessage; deliveryId: DeliveryId }[]): Said {
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
