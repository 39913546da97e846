import { asFields, type Fields } from './fields.ts';
import { apiFault, ERRCODE, type ApiResult } from './api-result.ts';

/** A self-built app's message, for the private chat. */
export interface AppMessage {
  agentId: string;
  /** User ids joined by `|`, or `@all`. */
  toUser: string;
  /** Markdown. */
  text: string;
  checkDuplicates: boolean;
  intervalSec?: number;
}

const MAX_TEXT_BYTES = 2_048;
const MAX_TITLE_CHARS = 128;
const MAX_DESCRIPTION_CHARS = 512;

/**
 * Parses the body of message/send with the limits of PLATFORM_FACTS.md wecom-app. Pure. @returns the message, or the
 * platform's error
 */
export function readAppMessage(body: unknown): AppMessage | ApiResult {
  const fields = asFields(body);
  const toUser = fields['touser'];
  if (typeof toUser !== 'string' || toUser === '') return apiFault(ERRCODE.badParameter, 'touser is missing');
  const text = readText(fields);
  if (typeof text !== 'string') return text;
  const intervalSec = fields['duplicate_check_interval'];
  return {
    agentId: String(fields['agentid']),
    toUser,
    text,
    checkDuplicates: fields['enable_duplicate_check'] === 1,
    intervalSec: typeof intervalSec === 'number' ? intervalSec : undefined,
  };
}

function readText(fields: Fields): string | ApiResult {
  const kind = fields['msgtype'];
  if (kind === 'textcard') return readCard(asFields(fields['textcard']));
  if (kind !== 'text' && kind !== 'markdown')
    return apiFault(ERRCODE.badParameter, 'this msgtype is not supported here');
  const content = asFields(fields[kind])['content'];
  if (typeof content !== 'string' || content === '') return apiFault(ERRCODE.badParameter, 'content is missing');
  if (Buffer.byteLength(content) <= MAX_TEXT_BYTES) return content;
  return kind === 'text'
    ? cutToBytes(content, MAX_TEXT_BYTES)
    : apiFault(ERRCODE.tooLong, 'content is longer than 2048 bytes');
}

function readCard({ title, description, url, btntxt }: Fields): string | ApiResult {
  if (typeof title !== 'string' || typeof description !== 'string' || typeof url !== 'string') {
    return apiFault(ERRCODE.badParameter, 'a textcard needs title, description and url');
  }
  const isTooLong =
    title.length > MAX_TITLE_CHARS ||
    description.length > MAX_DESCRIPTION_CHARS ||
    Buffer.byteLength(url) > MAX_TEXT_BYTES;
  if (isTooLong) return apiFault(ERRCODE.tooLong, 'a field of the textcard is too long');
  const plain = description.replace(/<[^<>]*>/g, '');
  return `**${title}**\n\n${plain}\n\n[${typeof btntxt === 'string' && btntxt !== '' ? btntxt : '→'}](${url})`;
}

/** The longest prefix of a text within this number of bytes that does not split a character. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = maxBytes;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}
