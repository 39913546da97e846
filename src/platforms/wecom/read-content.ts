import type { InboundMessage, MessagePart } from '../../domain/message.ts';
import { readSlashCommand } from '../../domain/slash-words.ts';
import type { MentionStripper } from './strip-mention.ts';
import { mediaRefOf } from './media.ts';
import { wireContent, type WireContent } from './wire-message.ts';

export type MessageContent = Pick<InboundMessage, 'parts' | 'quote' | 'slash'>;

/**
 * Reads what a person said and quoted. Undefined for kinds that are not known and for messages without content.
 * @param mention takes the bot's mention away; given for group messages only
 */
export function readMessageContent(parsed: unknown, mention: MentionStripper | undefined): MessageContent | undefined {
  const said = wireContent.safeParse(parsed);
  if (!said.success) return undefined;
  const original = partsOf(said.data);
  const stripped = original.map((part) =>
    part.type === 'text' && mention ? { ...part, text: mention.fromStart(part.text) } : part,
  );
  // A mention and nothing else is still addressed to the bot: it is kept, so that it gets an answer.
  const parts = withoutBlank(stripped).length > 0 ? withoutBlank(stripped) : withoutBlank(original);
  if (parts.length === 0) return undefined;

  const quote = quoteOf(parsed);
  const only = original.length === 1 && original[0]?.type === 'text' ? original[0].text : undefined;
  const slash = only === undefined ? undefined : readSlashCommand(mention ? mention.fromBothEnds(only) : only);
  return { parts, quote, slash };
}

function quoteOf(parsed: unknown): MessagePart[] | undefined {
  const quote = (parsed as { quote?: unknown }).quote;
  if (typeof quote !== 'object' || quote === null) return undefined;
  const read = wireContent.safeParse(quote);
  const parts = read.success ? withoutBlank(partsOf(read.data)) : [{ type: 'unsupported' as const, what: 'quote' }];
  return parts.length > 0 ? parts : undefined;
}

function partsOf(content: WireContent): MessagePart[] {
  switch (content.msgtype) {
    case 'text':
      return [textPart(content.text.content)];
    case 'voice':
      // Speech that WeCom could not write down has an empty transcript; the person still gets an answer.
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
      return content.mixed.msg_item.map((item): MessagePart => {
        if ('text' in item) return textPart(item.text.content);
        if ('image' in item) return { type: 'image', mediaRef: mediaRefOf(item.image) };
        return { type: 'unsupported', what: item.msgtype.slice(0, 32) };
      });
  }
}

/** Half a surrogate pair has no UTF-8 form; it becomes the replacement character here, once, rather than differently later. */
function textPart(text: string): MessagePart {
  return { type: 'text', text: Buffer.from(text).toString() };
}

function withoutBlank(parts: MessagePart[]): MessagePart[] {
  return parts.filter((part) => part.type !== 'text' || part.text.trim() !== '');
}
