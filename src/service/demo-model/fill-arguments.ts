import { isObject } from '../../shared/parse-json.ts';
import type { ToolDeclaration } from '../chat/tool-declaration.ts';
import { QuestionValues } from './question-values.ts';
import { standingAlone } from './words.ts';

type Schema = Record<string, unknown>;

/** Optional properties beyond this number are ignored. */
const MAX_OPTIONAL = 32;

/**
 * Extracts arguments from the question with simple rules: every required property gets a value of its type, an optional
 * property only a value that the question clearly states.
 */
export function fillArguments(
  { name: toolName, parameters: { properties, required } }: ToolDeclaration,
  question: string,
): Record<string, unknown> {
  const mustHave = new Set(required);
  const declared = Object.keys(properties);
  const optional = declared.filter((name) => !mustHave.has(name)).slice(0, MAX_OPTIONAL);
  const names = [...declared.filter((name) => mustHave.has(name)), ...mustHave, ...optional];
  const values = new QuestionValues(question.replace(new RegExp(standingAlone(toolName), 'giu'), ' '));
  const schemas = new Map(names.map((name) => [name, Object.hasOwn(properties, name) ? (properties[name] ?? {}) : {}]));
  // Numbers next to a property's name are assigned first, the others in order.
  const named = new Map(
    [...schemas].flatMap(([name, schema]) => {
      const value = isNumeric(schema) ? values.namedNumber(name) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const entries = [...schemas].map(([name, schema]): [string, unknown] => [
    name,
    named.get(name) ??
      find(name, schema, { question, values }) ??
      (mustHave.has(name) ? stopGap(schema, question) : undefined),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

interface Source {
  question: string;
  values: QuestionValues;
}

/** The value from the question; undefined if there is none. */
function find(name: string, schema: Schema, source: Source): unknown {
  if ('const' in schema) return schema['const'];
  const options = optionsOf(schema);
  if (options) return options.find((option) => isSaid(option, source.question));
  switch (typeOf(schema)) {
    case 'number':
      return source.values.nextNumber(false);
    case 'integer':
      return source.values.nextNumber(true);
    case 'array': {
      const items = isObject(schema['items']) ? schema['items'] : {};
      const said = optionsOf(items)?.filter((option) => isSaid(option, source.question));
      if (said) return said.length > 0 ? said : undefined;
      return collect(() => find(name, items, source));
    }
    case 'boolean':
    case 'object':
      return undefined;
    default:
      return source.values.text(name);
  }
}

const MAX_ITEMS = 20;

/** All values for a list. Numbers and quoted texts are returned only once, so a repeated value marks the end. */
function collect(next: () => unknown): unknown[] | undefined {
  const items: unknown[] = [];
  for (let item = next(); item !== undefined && items.length < MAX_ITEMS; item = next()) {
    if (items.length > 0 && (typeof item === 'object' || item === items.at(-1))) break;
    items.push(item);
  }
  return items.length > 0 ? items : undefined;
}

/** Default for a required value that the question does not contain. */
function stopGap(schema: Schema, question: string): unknown {
  if (schema['default'] !== undefined) return schema['default'];
  const options = optionsOf(schema);
  if (options) return options[0];
  switch (typeOf(schema)) {
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0;
    case 'boolean':
      return true;
    case 'array':
      return [isObject(schema['items']) ? stopGap(schema['items'], question) : question];
    case 'object':
      return {};
    default:
      return question;
  }
}

/**
 * Whether an option occurs as separate words: `below` does not contain the option `low`. Chinese has no spaces between
 * words.
 */
function isSaid(option: unknown, question: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[_\s-]+/g, ' ');
  const wanted = plain(String(option));
  if (wanted.trim() === '') return false;
  if (/\p{Script=Han}/u.test(wanted)) return question.includes(wanted);
  const words = plain(question);
  for (let at = words.indexOf(wanted); at >= 0; at = words.indexOf(wanted, at + 1)) {
    const around = [words[at - 1] ?? ' ', words[at + wanted.length] ?? ' '];
    if (around.every((letter) => !/[a-z\d]/.test(letter))) return true;
  }
  return false;
}

function optionsOf({ enum: options }: Schema): unknown[] | undefined {
  return Array.isArray(options) && options.length > 0 ? (options as unknown[]) : undefined;
}

/** `["string", "null"]` is an optional string. */
function typeOf({ type }: Schema): unknown {
  return Array.isArray(type) ? (type as unknown[]).find((one) => one !== 'null') : type;
}

function isNumeric(schema: Schema): boolean {
  return optionsOf(schema) === undefined && ['number', 'integer'].includes(String(typeOf(schema)));
}
