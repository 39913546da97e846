import type { SlackPart } from '../stored-message.ts';
import { SlackFault } from './slack-fault.ts';
import { markdownOfMrkdwn } from './written-text.ts';

/** What a call says, whether it came as a form or as JSON. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** The most characters of `markdown_text`, and of `text` where it is edited (platforms/slack.md section 3). */
const MAX_MARKDOWN_CHARS = 12_000;
const MAX_TEXT_CHARS = 40_000;
const MAX_EDITED_TEXT_CHARS = 4_000;
/** Arguments whose value is a JSON text when they come in a form. */
const NESTED = new Set(['metadata', 'chunks', 'blocks', 'attachments', 'loading_messages']);
const TS = /^\d{1,16}\.\d{6}$/;

/** Reads a body: JSON with its content type, else a form. @throws SlackFault `invalid_json`, `invalid_form_data` */
export function readArguments(body: string, contentType: string): CallArguments {
  if (/^application\/json\b/i.test(contentType)) return asObject(parse(body === '' ? '{}' : body, 'invalid_json'));
  if (body !== '' && !/^application\/x-www-form-urlencoded\b/i.test(contentType))
    throw new SlackFault('invalid_form_data');
  const entries = [...new URLSearchParams(body)].map(([name, value]) => [
    name,
    NESTED.has(name) ? parse(value, 'invalid_arguments') : value,
  ]);
  return Object.fromEntries(entries) as CallArguments;
}

export function textOf(args: CallArguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** @throws SlackFault `invalid_arguments` */
export function demandText(args: CallArguments, name: string): string {
  const value = textOf(args, name);
  if (value === undefined) throw new SlackFault('invalid_arguments');
  return value;
}

/** A `ts`: a string with six decimals. @throws SlackFault `invalid_arguments` for anything else */
export function tsOf(args: CallArguments, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string' || !TS.test(value)) throw new SlackFault('invalid_arguments');
  return value;
}

export function flagOf(args: CallArguments, name: string): boolean {
  return args[name] === true || args[name] === 'true' || args[name] === '1';
}

/**
 * The words of a message, as markdown.
 * @throws SlackFault `no_text`, `msg_too_long`, `markdown_text_conflict`
 */
export function messageText(args: CallArguments, kind: 'post' | 'edit'): string {
  const markdown = textOf(args, 'markdown_text');
  const text = textOf(args, 'text');
  const hasOther = text !== undefined || args['blocks'] !== undefined;
  if (markdown !== undefined && hasOther) throw new SlackFault('markdown_text_conflict');
  const words = markdown ?? text;
  if (words === undefined) throw new SlackFault('no_text');
  const most = markdown !== undefined ? MAX_MARKDOWN_CHARS : kind === 'edit' ? MAX_EDITED_TEXT_CHARS : MAX_TEXT_CHARS;
  if (words.length > most) throw new SlackFault('msg_too_long');
  return markdown ?? markdownOfMrkdwn(words);
}

/**
 * What a streaming call adds: `markdown_text`, or the markdown of its `chunks`. Tasks and plans are not shown here.
 * @throws SlackFault `invalid_arguments`, `msg_too_long`
 */
export function streamText(args: CallArguments): string {
  const { chunks = [] } = args;
  if (!Array.isArray(chunks)) throw new SlackFault('invalid_arguments');
  const added = (textOf(args, 'markdown_text') ?? '') + chunks.map(markdownOfChunk).join('');
  if (added.length > MAX_MARKDOWN_CHARS) throw new SlackFault('msg_too_long');
  return added;
}

/** @throws SlackFault `invalid_metadata_format` */
export function metadataOf(args: CallArguments): SlackPart['metadata'] {
  const { metadata } = args;
  if (metadata === undefined) return undefined;
  const { event_type: type, event_payload: payload } = asObject(metadata);
  if (typeof type !== 'string' || type === '' || typeof payload !== 'object' || payload === null)
    throw new SlackFault('invalid_metadata_format');
  return { event_type: type, event_payload: payload as Record<string, unknown> };
}

function markdownOfChunk(chunk: unknown): string {
  const { type, text } = asObject(chunk);
  if (type === 'markdown_text' && typeof text === 'string') return text;
  if (type === 'task_update' || type === 'plan_update' || type === 'blocks') return '';
  throw new SlackFault('invalid_arguments');
}

function asObject(value: unknown): CallArguments {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SlackFault('invalid_arguments');
  return value as CallArguments;
}

function parse(text: string, fault: 'invalid_json' | 'invalid_arguments'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SlackFault(fault);
  }
}
