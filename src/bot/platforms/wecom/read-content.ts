import { fieldsOf } from '../../../shared/parse-json.ts';
import type { InboundMessage, MessagePart } from '../../domain/message.ts';
import { readSlashCommand } from '../../domain/slash-words.ts';
import type { MentionStripper } from './strip-mention.ts';
import { mediaRefOf } from './media.ts';
import { readOther, type OtherContent } from './read-other.ts';
import { wireContent, type WireContent } from './wire-message.ts';

export type MessageContent = Pick<InboundMessage, 'parts' | 'quote' | 'slash'>;

/**
 * Reads a message and its quote. Undefined only for blank texts without a quote: every other message gets an answer,
 * including one of an unreadable kind (SECURITY.md unreadable-answered).
 * @param mention removes the bot's mention; set for group messages only
 */
export function readMessageContent(parsed: unknown, mention: MentionStripper | undefined): MessageContent | undefined {
  const { parts: original, isShared } = contentOf(parsed, 0);
  const stripped = original.map((part) =>
    part.type === 'text' && mention ? { ...part, text: mention.fromStart(part.text) } : part,
  );
  const [parts, written] = [withoutBlank(stripped), withoutBlank(original)];
  const quote = quoteOf(parsed);
  if (written.length === 0 && !quote) return undefined;

  // A bare mention asks about the quoted message; alone it is answered with the help text.
  if (parts.length === 0)
    return quote
      ? { parts: [{ type: 'text', text: '' }], quote }
      : { parts: written, slash: { word: 'help', argument: '' } };
  // Other people's messages are quoted text, not the question.
  if (isShared) return { parts: [{ type: 'text', text: '' }], quote: [...parts, ...(quote ?? [])] };
  const only = original.length === 1 && original[0]?.type === 'text' ? original[0].text : undefined;
  const slash = only === undefined ? undefined : readSlashCommand(mention ? mention.fromBothEnds(only) : only);
  return { parts, quote, slash };
}

function quoteOf(parsed: unknown): MessagePart[] | undefined {
  const quote = (parsed as { quote?: unknown }).quote;
  if (typeof quote !== 'object' || quote === null) return undefined;
  const parts = withoutBlank(contentOf(quote, 0).parts);
  return parts.length > 0 ? parts : undefined;
}

/** A mixed message cannot contain another mixed message. */
const MAX_DEPTH = 1;

function contentOf(value: unknown, depth: number): OtherContent {
  const read = wireContent.safeParse(value);
  if (read.success && (depth < MAX_DEPTH || read.data.msgtype !== 'mixed'))
    return { parts: partsOf(read.data, depth), isShared: false };
  return readOther(fieldsOf(value));
}

function partsOf(content: WireContent, depth: number): MessagePart[] {
  switch (content.msgtype) {
    case 'text':
      return [textPart(content.text.content)];
    case 'voice':
      // WeCom's transcript is empty if it could not transcribe the speech; the person still gets an answer.
      return content.voice.content.trim() === ''
        ? [{ type: 'unsupported', what: 'voice' }]
        : [textPart(content.voice.content)];
    case 'image':
      return [{ type: 'image', mediaRef: mediaRefOf(content.image) }];
    case 'file':
      return [{ type: 'file', mediaRef: mediaRefOf(content.file), name: content.file.filename }];
    case 'video':
      return [{ type: 'unsupported', what: 'video' }];
    case 'mixed':
      return content.mixed.msg_item.flatMap((item) => contentOf(item, depth + 1).parts);
  }
}

/**
 * A lone surrogate has no UTF-8 form. It becomes the replacement character here, once, so that all later steps see the same
 * text.
 */
function textPart(text: string): MessagePart {
  return { type: 'text', text: Buffer.from(text).toString() };
}

function withoutBlank(parts: MessagePart[]): MessagePart[] {
  return parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
}
