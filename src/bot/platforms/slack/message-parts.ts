import type { MessagePart } from '../../domain/message.ts';
import { isFileId, refOfFile } from './media.ts';
import { plainText, unnamedIn } from './plain-text.ts';
import { tablesIn, textOfBlocks } from './read-blocks.ts';
import { readShared } from './shared-messages.ts';
import type { WireFile, WireMessage } from './wire-event.ts';

/** Documents that exist only in Slack and have no file. */
const SLACK_DOCUMENTS = new Set(['canvas', 'quip', 'list', 'post', 'space']);
const NOT_HANDED_OUT = new Set(['access_denied', 'file_not_found', 'file_not_accessible', 'file_deleted']);
/** Maximum characters of a text that are read. */
export const MAX_QUERY_TEXT_CHARS = 100_000;

interface FileOptions {
  /** Whether a file is stored at Slack, so that it may be downloaded with the bot's token. */
  isFileAddress(address: string): boolean;
}

/** The text of a message, else the text of its blocks. */
export function saidText({ text = '', blocks }: WireMessage): string {
  return text.trim() === '' ? textOfBlocks(blocks) : text;
}

export function partsOf(
  text: string,
  { files, blocks, attachments }: WireMessage,
  options: FileOptions,
): MessagePart[] {
  const tables = tablesIn(blocks, attachments);
  const plain = [plainText(text.slice(0, MAX_QUERY_TEXT_CHARS)), ...tables].join('\n\n').trim();
  const parts = files.map((file) => filePart(file, options));
  return [...(plain === '' ? [] : [{ type: 'text' as const, text: plain }]), ...parts];
}

/** Content without any text: a GIF that was searched for, a card of an app, or a file that Slack does not describe. */
export function wordlessParts({ subtype, blocks, attachments }: WireMessage): MessagePart[] {
  const listed = [blocks, attachments].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  if (listed.length === 0) return subtype === 'file_share' ? [{ type: 'unsupported', what: 'withheld' }] : [];
  const isPicture = listed.some((one) => (one as { type?: unknown } | null)?.type === 'image');
  return [{ type: 'unsupported', what: isPicture ? 'sticker' : 'other' }];
}

/** The forwarded messages: their authors, texts and files. */
export function quoteOf({ attachments }: WireMessage, options: FileOptions): MessagePart[] | undefined {
  const parts = readShared(attachments).flatMap(({ author, text, files }) => {
    const words = plainText([author === '' ? '' : `${author}:`, text].filter((one) => one !== '').join(' ')).trim();
    const read = files.map((file) => filePart(file, options));
    return [...(text === '' ? [] : [{ type: 'text' as const, text: words }]), ...read];
  });
  return parts.length === 0 ? undefined : parts;
}

/** People and channels that the message mentions only by id. */
export function unnamedOf(event: WireMessage): string[] | undefined {
  const texts = [saidText(event), ...readShared(event.attachments).map(({ text }) => text)];
  const unnamed = unnamedIn(texts.join('\n').slice(0, MAX_QUERY_TEXT_CHARS));
  return unnamed.length === 0 ? undefined : unnamed;
}

/** A file that Slack does not provide becomes a part with the reason, so that its sender still gets an answer. */
function filePart(file: WireFile, { isFileAddress }: FileOptions): MessagePart {
  const { name, mode = '', file_access: access = '', plain_text: mail } = file;
  if (mode === 'email' && mail !== undefined && mail.trim() !== '')
    return { type: 'text', text: Buffer.from([name ?? '', mail].join('\n').trim()).toString() };
  if (file.is_external || mode === 'external') return { type: 'unsupported', what: 'elsewhere', name };
  if (SLACK_DOCUMENTS.has(mode)) return { type: 'unsupported', what: 'canvas', name };
  const address = file.url_private_download ?? file.url_private;
  if (NOT_HANDED_OUT.has(access)) return { type: 'unsupported', what: 'withheld', name };
  if (address === undefined) {
    // For another company's file (Slack Connect) the event names only the id; the file type is known after the download.
    if (access === 'check_file_info' && isFileId(file.id))
      return { type: 'file', mediaRef: refOfFile(file.id), name: file.name };
    return { type: 'unsupported', what: 'withheld', name };
  }
  if (!isFileAddress(address)) return { type: 'unsupported', what: 'elsewhere', name };
  if (file.mimetype?.startsWith('image/')) return { type: 'image', mediaRef: address, name: file.name };
  return { type: 'file', mediaRef: address, name: file.name };
}
