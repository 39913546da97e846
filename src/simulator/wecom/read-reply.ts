import { createHash } from 'node:crypto';
import { MIB_BYTES } from '../../shared/clock.ts';
import { sniffImageType } from '../media-store.ts';
import { asFields, type Fields } from './fields.ts';
import { readCard, type Card } from './read-card.ts';

/**
 * Maximum content of a stream or of a later markdown message, in UTF-8 bytes (PLATFORM_FACTS.md wecom-streams,
 * wecom-response-url).
 */
export const MAX_CONTENT_BYTES = 20_480;
const MAX_FEEDBACK_ID_BYTES = 256;
const MAX_IMAGES = 10;
const MAX_IMAGE_BYTES = 10 * MIB_BYTES;

/** Snapshot of a growing answer. */
export interface StreamSnapshot {
  kind: 'stream';
  id: string;
  isFinished: boolean;
  content: string;
  images: Buffer[];
  feedbackId?: string;
  /** Shown below the text; one per message. */
  card?: Card;
}

/** One response of the bot, as the message's sender sees it. `refused` violates a rule of the platform. */
export type BotReply =
  | StreamSnapshot
  | { kind: 'text'; content: string }
  | { kind: 'card'; card: Card }
  | { kind: 'refused'; reason: string };

/** Validates a decrypted response by the rules of PLATFORM_FACTS.md wecom-streams. Pure. */
export function readReply(reply: unknown): BotReply {
  const fields = asFields(reply);
  switch (fields['msgtype']) {
    case 'stream':
      return readStream(asFields(fields['stream']));
    case 'stream_with_template_card':
      return readStreamWithCard(fields);
    case 'text':
      return readText(asFields(fields['text']));
    case 'template_card':
      return cardReply(fields['template_card']);
    default:
      return refused('the answer has an unknown type');
  }
}

function cardReply(sent: unknown): BotReply {
  const read = readCard(sent);
  return 'card' in read ? { kind: 'card', card: read.card } : refused(read.refused);
}

function readStreamWithCard(fields: Fields): BotReply {
  const stream = readStream(asFields(fields['stream']));
  if (stream.kind !== 'stream' || fields['template_card'] === undefined) return stream;
  const read = readCard(fields['template_card']);
  return 'card' in read ? { ...stream, card: read.card } : refused(read.refused);
}

/** Prefix of a line in the thinking block that is a remark of the bot about its answer, not reasoning. */
const NOTICE_LINE = /^\u2139\ufe0f (?<words>.*)$/;

/**
 * Splits a stream's content into the thinking block at its start and the text, and the block into the model's reasoning and
 * the bot's remarks. In an unclosed block the model is still thinking.
 */
export function splitThinking(content: string): { thinking?: string; note?: string; text: string } {
  const match = /^\s*<think>(?<thinking>[\s\S]*?)(?:<\/think>(?<text>[\s\S]*))?$/.exec(content);
  if (!match?.groups) return { text: content.trim() === '' ? '' : content };
  const lines = (match.groups['thinking'] ?? '').split('\n');
  const note = lines.flatMap((line) => NOTICE_LINE.exec(line)?.groups?.['words'] ?? []).join('\n');
  const thinking = lines
    .filter((line) => !NOTICE_LINE.test(line))
    .join('\n')
    .trim();
  const text = (match.groups['text'] ?? '').replace(/^\s+/, '');
  return { thinking: thinking === '' ? undefined : thinking, note: note === '' ? undefined : note, text };
}

function readStream(stream: Fields): BotReply {
  const { id, finish = false, content = '', msg_item: items = [] } = stream;
  if (typeof id !== 'string' || id === '') return refused('the stream has no id');
  if (typeof finish !== 'boolean') return refused('the stream\'s "finish" is not a boolean');
  if (typeof content !== 'string') return refused("the stream's content is not a string");
  const sizeBytes = Buffer.byteLength(content);
  if (sizeBytes > MAX_CONTENT_BYTES)
    return refused(`the content has ${sizeBytes} bytes, ${MAX_CONTENT_BYTES} are allowed`);
  const images = readImages(items, finish);
  if (typeof images === 'string') return refused(images);
  const feedbackId = asFields(stream['feedback'])['id'];
  if (typeof feedbackId === 'string' && Buffer.byteLength(feedbackId) > MAX_FEEDBACK_ID_BYTES) {
    return refused('the feedback id is longer than 256 bytes');
  }
  return {
    kind: 'stream',
    id,
    isFinished: finish,
    content,
    images,
    feedbackId: typeof feedbackId === 'string' && feedbackId !== '' ? feedbackId : undefined,
  };
}

function readImages(items: unknown, isFinished: boolean): Buffer[] | string {
  if (!Array.isArray(items)) return '"msg_item" is not a list';
  if (items.length === 0) return [];
  if (!isFinished) return '"msg_item" is allowed in the last answer only';
  if (items.length > MAX_IMAGES) return 'more than ten images';
  const images = items.map((item) => {
    const { base64, md5 } = asFields(asFields(item)['image']);
    const bytes = Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64');
    const type = sniffImageType(bytes);
    const isTaken = bytes.length <= MAX_IMAGE_BYTES && (type === 'image/png' || type === 'image/jpeg');
    return isTaken && createHash('md5').update(bytes).digest('hex') === md5 ? bytes : undefined;
  });
  const taken = images.filter((bytes) => bytes !== undefined);
  return taken.length === images.length ? taken : 'an image is not a JPG or PNG of up to 10 MB, or its md5 is wrong';
}

function readText({ content }: Fields): BotReply {
  return typeof content === 'string' ? { kind: 'text', content } : refused('the text has no content');
}

function refused(reason: string): BotReply {
  return { kind: 'refused', reason };
}
