import { readJsonObject } from '../../../shared/sign-in/json-answer.ts';
import type { ServiceAnswer } from './service-calls.ts';
import { parseJson } from '../../../shared/parse-json.ts';

const FIELD_NAME = /^[A-Za-z][A-Za-z_]{0,31}$/;
const ERROR_CODE = /^[A-Za-z][A-Za-z_]{0,39}$/;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+/;
const MAX_FIELDS = 8;

/**
 * Describes a response by its status and shape: field names and an OAuth error code, but no other value. For example `400,
 * JSON with error, error_description (invalid_grant)`.
 */
export function shapeOf(answer: ServiceAnswer): string {
  if (answer.failure !== undefined) return `no answer (${answer.failure})`;
  return `${answer.status}, ${shapeOfBody(answer)}`;
}

function shapeOfBody({ body, contentType }: ServiceAnswer): string {
  if (body.trim() === '') return 'empty';
  const object = readJsonObject(body);
  if (object)
    return `JSON with ${fieldsIn(Object.keys(object))}${codeIn(object['error'])}${typeUnlessJson(contentType)}`;
  if (parseJson(body) !== undefined) return 'JSON, but not an object';
  if (/^\s*</.test(body)) return 'HTML';
  if (isForm(body)) {
    const form = new URLSearchParams(body);
    return `form-encoded with ${fieldsIn([...form.keys()])}${codeIn(form.get('error'))}`;
  }
  return `text of ${body.length} characters`;
}

/** Whether a body is form-encoded, as some older services answer token requests. */
export function isForm(body: string): boolean {
  return /^[A-Za-z_]+=[^&\s]*(?:&[A-Za-z_]+=[^&\s]*)*\s*$/.test(body);
}

function fieldsIn(names: readonly string[]): string {
  // A name that is not a plain word might be a misplaced value.
  const shown = names.filter((name) => FIELD_NAME.test(name)).slice(0, MAX_FIELDS);
  const hidden = names.length - shown.length;
  if (names.length === 0) return 'no fields';
  return [...shown, ...(hidden > 0 ? [`${hidden} more`] : [])].join(', ');
}

function codeIn(error: unknown): string {
  if (error === undefined || error === null) return '';
  return typeof error === 'string' && ERROR_CODE.test(error) ? ` (${error})` : ' (a non-standard error code)';
}

function typeUnlessJson(contentType: string): string {
  const type = MEDIA_TYPE.exec(contentType)?.[0].toLowerCase();
  return type?.includes('json') ? '' : `, sent as ${type ?? 'no type'}`;
}
