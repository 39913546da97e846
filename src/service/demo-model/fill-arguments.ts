import type { ToolDeclaration } from '../chat/tool-declaration.ts';
import { QuestionValues } from './question-values.ts';
import { standingAlone } from './words.ts';

type Schema = Record<string, unknown>;

/** Optional properties beyond these are not worth the search. */
const MAX_OPTIONAL = 32;

/**
 * Arguments from a simple reading of the question: every required property gets a value of its type, an optional one only
 * what the question plainly gives for it.
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
  // Numbers that stand beside a name go there before the others are handed out in order.
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

/** What the question gives; undefined when it gives nothing. */
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
      const items = isSchema(schema['items']) ? schema['items'] : {};
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

/** All that is there for a list: numbers and quoted texts are handed out once, so that a value which comes again is the last. */
function collect(next: () => unknown): unknown[] | undefined {
  const items: unknown[] = [];
  for (let item = next(); item !== undefined && items.length < MAX_ITEMS; item = next()) {
    if (items.length > 0 && (typeof item === 'object' || item === items.at(-1))) break;
    items.push(item);
  }
  return items.length > 0 ? items : undefined;
}

/** A required value that the question does not give. */
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
      return [isSchema(schema['items']) ? stopGap(schema['items'], question) : question];
    case 'object':
      return {};
    default:
      return question;
  }
}

/** Whether an option occurs as words of its own: `low` is not said by `below`. Chinese has no spaces to tell words by. */
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

/** `["string", "null"]` is a string that may be absent. */
function typeOf({ type }: Schema): unknown {
  return Array.isArray(type) ? (type as unknown[]).find((one) => one !== 'null') : type;
}

function isNumeric(schema: Schema): boolean {
  return optionsOf(schema) === undefined && ['number', 'integer'].includes(String(typeOf(schema)));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
