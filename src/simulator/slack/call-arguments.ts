import type { SlackPart } from '../stored-message.ts';
import { SlackFault } from './slack-fault.ts';
import { parseJson } from '../../shared/parse-json.ts';

/** Arguments of a call, from a form or from JSON. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** A validated block as it was sent. */
export type SlackBlock = CallArguments;

/** Arguments that are JSON text in a form. */
const NESTED = new Set(['metadata', 'chunks', 'blocks', 'attachments', 'loading_messages', 'prompts', 'files']);
const TS = /^\d{1,16}\.\d{6}$/;

/** Parses a body: JSON by its content type, otherwise a form. @throws SlackFault `invalid_json`, `invalid_form_data` */
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

/** @throws SlackFault `invalid_metadata_format` */
export function metadataOf(args: CallArguments): SlackPart['metadata'] {
  const { metadata } = args;
  if (metadata === undefined) return undefined;
  const { event_type: type, event_payload: payload } = asObject(metadata);
  if (typeof type !== 'string' || type === '' || typeof payload !== 'object' || payload === null)
    throw new SlackFault('invalid_metadata_format');
  return { event_type: type, event_payload: payload as Record<string, unknown> };
}

/** @throws SlackFault with this code if the value is not an object */
export function asObject(
  value: unknown,
  code: 'invalid_arguments' | 'invalid_blocks' = 'invalid_arguments',
): CallArguments {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SlackFault(code);
  return value as CallArguments;
}

function parse(text: string, fault: 'invalid_json' | 'invalid_arguments'): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new SlackFault(fault);
  return value;
}
