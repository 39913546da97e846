import type { MessagePart } from '../../domain/message.ts';
import { asObject, fieldsOf, parseJson, type JsonObject } from '../../../shared/parse-json.ts';

/**
 * Reads message types whose fields WeCom does not document for bots (PLATFORM_FACTS.md wecom-callbacks). Names of types and
 * fields differ between WeCom's interfaces, so they are compared without case and separators.
 */

/** Known message types, with their names in WeCom's interfaces. */
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    link: ['link', 'news', 'docmsg'],
    location: ['location', 'position'],
    record: ['chatrecord', 'chathistory', 'mergedmsg', 'mergedforward', 'forward', 'record'],
    voice: ['voice', 'audio'],
    video: ['video', 'shortvideo', 'sphfeed', 'channels'],
    card: ['card', 'businesscard', 'contactcard', 'namecard'],
    program: ['weapp', 'miniprogram', 'applet'],
    sticker: ['emotion', 'sticker', 'emoji'],
    image: ['image'],
    file: ['file'],
  }).flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
);

/** JsonObject to read of a type, one line each, in this order; each with all of its names. */
const TITLE = ['title', 'name', 'label'];
const READ_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  link: [TITLE, ['description', 'desc', 'digest'], ['url', 'linkurl', 'link', 'href']],
  location: [['name', 'title', 'label', 'poiname'], ['address']],
};

const ITEM_LISTS = ['item', 'items', 'msgitem', 'msgitems', 'list', 'records', 'messages', 'newslist'];
const SENDERS = ['sendername', 'fromname', 'nickname', 'sender', 'name'];
const BODIES = ['content', 'msgcontent', 'text', 'body'];
const MAX_ITEMS = 100;
const MAX_DEPTH = 4;
const MAX_LINE_CHARS = 4_000;
const MAX_TEXT_CHARS = 20_000;

/** Content of a message of an undocumented type. `isShared`: its text was written by other people. */
export interface OtherContent {
  parts: MessagePart[];
  isShared: boolean;
}

/** Reads a message of an undocumented type: its text if it has any, else one part that names the type. */
export function readOther(content: JsonObject): OtherContent {
  const name = typeof content['msgtype'] === 'string' ? content['msgtype'] : '';
  const kind = kindOf(name);
  const text = textOf(content, kind, 0).slice(0, MAX_TEXT_CHARS);
  const part: MessagePart =
    text === '' ? { type: 'unsupported', what: kind ?? plain(name).slice(0, 32) } : { type: 'text', text };
  return { parts: [part], isShared: text !== '' && kind === 'record' };
}

function kindOf(name: string): string | undefined {
  return KINDS.get(plain(name));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function textOf(content: JsonObject, kind: string | undefined, depth: number): string {
  const body = bodyOf(content);
  if (kind === 'record') return recordText(body, depth);
  const fields = READ_FIELDS[kind ?? ''];
  if (fields === undefined) return '';
  const lists = listIn(body);
  if (lists !== undefined) return lines(lists.slice(0, MAX_ITEMS).map((one) => fieldText(fieldsOf(one), fields)));
  return fieldText(body, fields);
}

/** The object stored under the message's own type, else the message itself. */
function bodyOf(content: JsonObject): JsonObject {
  const name = plain(line(content['msgtype']));
  const own = Object.entries(content).find(([key, value]) => plain(key) === name && asObject(value));
  return own ? fieldsOf(own[1]) : content;
}

function fieldText(body: JsonObject, fields: readonly (readonly string[])[]): string {
  return lines(fields.map((names) => line(find(body, names))));
}

/** A title, then one line per forwarded message: its author, and its text or type. */
function recordText(body: JsonObject, depth: number): string {
  const items = listIn(body);
  if (items === undefined || depth >= MAX_DEPTH) return '';
  const said = items.slice(0, MAX_ITEMS).flatMap((one) => {
    const item = fieldsOf(one);
    const text = itemText(item, depth + 1);
    if (text === '') return [];
    const sender = line(find(item, SENDERS));
    return [sender === '' ? text : `${sender}: ${text}`];
  });
  return said.length === 0 ? '' : lines([line(find(body, TITLE)), ...said]);
}

function itemText(item: JsonObject, depth: number): string {
  const name = line(find(item, ['msgtype', 'type'])).replace(/^ChatRecord/i, '');
  const inner = parsed(find(item, BODIES)) ?? parsed(item[name]);
  if (typeof inner === 'string') return line(inner);
  const kind = kindOf(name);
  const nested = inner === undefined ? item : { ...fieldsOf(inner), msgtype: name };
  const words = inner === undefined ? '' : line(find(fieldsOf(inner), ['content', 'text']));
  const own = fieldsOf(fieldsOf(inner)[name]);
  return (
    words || line(find(own, ['content'])) || textOf(nested, kind, depth) || (name === '' ? '' : `[${plain(name)}]`)
  );
}

/** Some interfaces embed JSON in a text. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' && value.trimStart().startsWith('{') ? (parseJson(value) ?? value) : value;
}

function listIn(body: JsonObject): unknown[] | undefined {
  const list = find(body, ITEM_LISTS);
  return Array.isArray(list) ? (list as unknown[]) : undefined;
}

function find(body: JsonObject, names: readonly string[]): unknown {
  for (const name of names) {
    const found = Object.entries(body).find(([key, value]) => plain(key) === name && value !== null && value !== '');
    if (found) return found[1];
  }
  return undefined;
}

function line(value: unknown): string {
  if (typeof value !== 'string') return '';
  // A lone surrogate has no UTF-8 form.
  return Buffer.from(value.trim().slice(0, MAX_LINE_CHARS)).toString();
}

function lines(all: readonly string[]): string {
  return all.filter((one) => one !== '').join('\n');
}
