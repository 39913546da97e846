import type { Language } from '../../shared/text/texts.ts';
import { ADMIN_TEXTS } from './zh/admin-texts.ts';
import { CHECK_TEXTS } from './zh/check-texts.ts';
import { COMMAND_TEXTS } from './zh/command-texts.ts';
import { CONFIG_TEXTS } from './zh/config-texts.ts';
import { EVAL_TEXTS } from './zh/eval-texts.ts';
import { KNOWLEDGE_TEXTS } from './zh/knowledge-texts.ts';
import { PROBE_TEXTS } from './zh/probe-texts.ts';
import { SIMULATE_TEXTS } from './zh/simulate-texts.ts';
import { START_TEXTS } from './zh/start-texts.ts';

/** Puts an English text into the language of the terminal. A text without a translation stays as it is. */
export type Translate = (text: string) => string;

/** Chinese texts by their English ones. `{name}` stands for a value, which is translated too. */
export const CHINESE: Readonly<Record<string, string>> = {
  ...COMMAND_TEXTS,
  ...ADMIN_TEXTS,
  ...START_TEXTS,
  ...CONFIG_TEXTS,
  ...CHECK_TEXTS,
  ...KNOWLEDGE_TEXTS,
  ...PROBE_TEXTS,
  ...SIMULATE_TEXTS,
  ...EVAL_TEXTS,
};

const SETTING = /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*) (?!and |or )(\S[\s\S]*)$/;
/** Values that are numbers, so that a short form does not match any text. */
const NUMBERS = /^(?:count|number|time|port|status|step|max|minimum|least|most)$/;
const NAME = /^[A-Z][A-Z0-9_]+$/;
const LISTS = [
  ['. ', '。'],
  [': ', '：'],
  ['; ', '；'],
  [', or ', '，或 '],
  [', ', '，'],
  [' and ', ' 和 '],
  [' or ', '或 '],
] as const;

/**
 * The texts of a terminal are written where they arise, in modules that know no terminal, and logs and `--json` take them
 * as they are. They are translated where a terminal shows them.
 */
export function translatorTo(language: Language): Translate {
  return language === 'en' ? (text) => text : (text) => text.split('\n').map(translateLine).join('\n');
}

function translateLine(line: string): string {
  const text = line.trim();
  return line.replace(text, () => find(text, new Map()) ?? text);
}

/** What was found for each part of a line, because the same part belongs to several forms. */
type Found = Map<string, string | undefined>;

/** @returns undefined if no part of the text has a translation */
function find(text: string, found: Found): string | undefined {
  if (text === '' || found.has(text)) return found.get(text);
  const whole = Object.hasOwn(CHINESE, text) ? CHINESE[text] : undefined;
  const chinese = whole ?? findByForm(text, found) ?? findOfSetting(text, found) ?? findOfList(text, found);
  found.set(text, chinese);
  return chinese;
}

/** Faults begin with the name of a setting. */
function findOfSetting(text: string, known: Found): string | undefined {
  const [, name = '', rest = ''] = SETTING.exec(text) ?? [];
  const found = rest === '' ? undefined : find(rest, known);
  return found === undefined ? undefined : `${name} ${found}`;
}

interface Form {
  /** The texts between the values. */
  pieces: readonly string[];
  names: readonly string[];
  chinese: string;
}

let knownForms: Form[] | undefined;

/** The texts with values, those with the most of their own words first. */
function forms(): readonly Form[] {
  knownForms ??= Object.entries(CHINESE)
    .filter(([english]) => english.includes('{'))
    .map(([english, chinese]) => {
      const parts = english.split(/\{(\w+)\}/);
      return {
        pieces: parts.filter((_part, index) => index % 2 === 0),
        names: parts.filter((_part, index) => index % 2 === 1),
        chinese,
      };
    })
    .sort((one, other) => other.pieces.join('').length - one.pieces.join('').length);
  return knownForms;
}

function findByForm(text: string, known: Found): string | undefined {
  for (const { pieces, names, chinese } of forms()) {
    const values = valuesIn(text, pieces);
    if (!values?.every((value, index) => !NUMBERS.test(names[index] ?? '') || /^[\d.]+$/.test(value))) continue;
    const given = new Map(names.map((name, index) => [name, values[index] ?? '']));
    return chinese.replace(/\{(\w+)\}/g, (whole, name: string, at: number) => {
      const value = given.get(name);
      if (value === undefined) return whole;
      return spaced(chinese[at - 1], find(value, known) ?? value, chinese[at + whole.length]);
    });
  }
  return undefined;
}

const HAN = /\p{Script=Han}/u;

/** A value with a space between its Latin letters and the Chinese characters around it. */
function spaced(before: string | undefined, value: string, after: string | undefined): string {
  const start = HAN.test(before ?? '') && /^[A-Za-z\d]/.test(value) ? ' ' : '';
  const end = /[A-Za-z\d]$/.test(value) && HAN.test(after ?? '') ? ' ' : '';
  return `${start}${value}${end}`;
}

/** The values between the pieces; undefined if the text does not have the form. */
function valuesIn(text: string, [first = '', ...others]: readonly string[]): string[] | undefined {
  const last = others.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const [index, piece] of others.entries()) {
    const isLast = index === others.length - 1;
    // A value has at least one character.
    const end = isLast ? text.length - last.length : text.indexOf(piece, at + 1);
    if (end <= at) return undefined;
    values.push(text.slice(at, end));
    at = end + piece.length;
  }
  return values;
}

function findOfList(text: string, known: Found): string | undefined {
  const ended = text.endsWith('.') ? find(text.slice(0, -1), known) : undefined;
  if (ended !== undefined) return `${ended}。`;
  for (const [separator, chinese] of LISTS) {
    const parts = text.split(separator);
    if (parts.length === 1) continue;
    const found = parts.map((part) => find(part, known));
    if (found.some((part) => part !== undefined)) return found.map((part, index) => part ?? parts[index]).join(chinese);
    if (parts.every((part) => NAME.test(part))) return parts.join(separator === ', ' ? '、' : chinese);
  }
  return undefined;
}

const WIDE = /[\u1100-\u115f\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Columns of a text in a terminal: Chinese characters and full-width marks take two. */
export function columnsOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

/** Like `padEnd`, by columns. */
export function padColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/** The beginning of a text that fits. */
export function columnsUpTo(text: string, max: number): string {
  let columns = 0;
  return [...text].filter((character) => (columns += columnsOf(character)) <= max).join('');
}
