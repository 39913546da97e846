import type { ToolDeclaration } from '../chat/tool-declaration.ts';

const WHOLE_QUESTION = /query|question|text|prompt|keyword|search|message|content|input/i;
const ADDRESS = /https?:\/\/\S+/i;
const DATE = /\d{4}-\d{2}-\d{2}/;
/** The last phrase after a preposition: "… in Beijing?" gives "Beijing". */
const PHRASE =
  /\b(?:in|of|for|at|about|on|named|called)\s+([^,.;?!]+?)\s*(?:today|tomorrow|now|please|right now)?\s*[.?!]*$/i;
const QUOTED = /["“「'`]([^"”」'`]{1,200})["”」'`]/;

/** Arguments from a simple reading of the question: every required property gets a value of its type. */
export function fillArguments(
  { parameters: { properties, required } }: ToolDeclaration,
  question: string,
): Record<string, unknown> {
  const entries = required.map((name): [string, unknown] => [name, valueFor(name, properties[name] ?? {}, question)]);
  return Object.fromEntries(entries);
}

function valueFor(name: string, schema: Record<string, unknown>, question: string): unknown {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const options: unknown[] = schema.enum;
    return options.find((option) => question.toLowerCase().includes(String(option).toLowerCase())) ?? options[0];
  }
  switch (schema.type) {
    case 'number':
      return Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 0);
    case 'integer':
      return Number(/-?\d+/.exec(question)?.[0] ?? 0);
    case 'boolean':
      return true;
    case 'array':
      return schema.items && typeof schema.items === 'object'
        ? [valueFor(name, schema.items as Record<string, unknown>, question)]
        : [question];
    case 'object':
      return {};
    default:
      return textFor(name, question);
  }
}

function textFor(name: string, question: string): string {
  if (/ur[li]|link|address/i.test(name)) return ADDRESS.exec(question)?.[0] ?? question;
  if (/date|day/i.test(name)) return DATE.exec(question)?.[0] ?? question;
  if (WHOLE_QUESTION.test(name)) return question;
  return QUOTED.exec(question)?.[1] ?? PHRASE.exec(question)?.[1] ?? question;
}
