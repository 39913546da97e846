import { timeZoneIn } from './time-zone-in.ts';

const NUMBER = String.raw`-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?`;
/** A number outside words and other numbers: `10-5` does not contain `-5`, and `v5` contains no number. */
const NUMBERS = new RegExp(String.raw`(?<![\w.])(?:${NUMBER})`, 'g');
/** Dates, times and ids contain digits that are not quantities. */
const NO_NUMBERS = /https?:\/\/\S+|\d{4}-\d{2}-\d{2}|\b\d{1,2}:\d{2}\b|\b[a-z]+[-_#]?\d[\w-]*|#\d+/gi;
const QUOTED =
  /"([^"]{1,400})"|“([^”]{1,400})”|「([^」]{1,400})」|`([^`]{1,400})`|(?<![\p{L}\d])'([^']{1,400})'(?!\p{L})/gu;
const IS = String.raw`\s*(?:=|:|：|＝|\bis\b|\bto be\b|为|是)\s*`;

/** A URL without the final punctuation of its sentence; adjacent Chinese characters belong to the sentence. */
const LINK_LETTER = String.raw`[^\s"'\x60<>（）()“”「」，。；：！？、\p{Script=Han}]`;
const LINK = new RegExp(String.raw`https?:\/\/${LINK_LETTER}*(?![.,;:!?])${LINK_LETTER}`, 'iu');

const END = String.raw`(?= (?:in|at|on|for|of|from|to|with|and|by|today|tomorrow|tonight|now|right|please|this|next)\b| ?[,.;:?!，。；？！]| ?$)`;
const ENGLISH_PLACE = new RegExp(
  String.raw`\b(?:in|at|near|for|of|around) (?:the )?(?:(\p{Lu}[\p{L}'’/_-]*(?: \p{Lu}[\p{L}'’/_-]*)*)|([\p{L}'’ /_-]{2,60}?)${END})`,
  'u',
);
const CHINESE_PLACE =
  /(?:在|去|到|查询|查一下|查查|查|看看|请问|今天|明天|现在|^)\s*((?!今天|明天|后天|现在|请问|查|一下)\p{Script=Han}{2,6}?)(?:市|省)?(?:今天|明天|后天|现在)?的?(?:天气|气温|温度|时间|几点|会|有|$|[，。？！,?!])/u;

/** Kinds of text by property name, and patterns for their values in a question. */
const KINDS: readonly [name: RegExp, value: RegExp][] = [
  [/e-?mail/i, /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/],
  [/ur[li]$|link|website|^address$/i, LINK],
  [/date|day$/i, /\d{4}-\d{2}-\d{2}|\b(?:today|tomorrow|yesterday)\b|今天|明天|昨天|后天/i],
  [/(?:^|[a-z_-])id$|I[dD]$|code$|number$|^sku$|^ref/, /\b[A-Za-z]+[-_#]?\d[\w-]*|#?\b\d{2}[\w-]*/],
  [/expression|formula|equation|calculation/i, /[\d(.][\d\s.,()]{0,60}(?:[-+*/^%×÷][\d\s.,()]+)+/],
  [/^from|origin|source|start/i, /\bfrom\s+([\p{L}\d'’_-]+)|从\s*(\p{Script=Han}{2,6}?)(?:到|去|飞)/iu],
  [
    /^to$|to_|destination|target|recipient/i,
    /\bto\s+(\p{Lu}[\p{L}\d'’_-]*)|(?:到|去|飞|发给)\s*(\p{Script=Han}{2,6})/u,
  ],
  [/file|path/i, /(?<![\w./-])(?:\.{0,2}\/)?[\w-]+(?:\/[\w.-]+)*\.\w{1,5}\b|\/[\w./-]+/],
  [/city|place|location|region|country|town|where|zone|area|station/i, ENGLISH_PLACE],
  [/city|place|location|region|country|town|where|zone|area|station/i, CHINESE_PLACE],
  [
    /name|title|who|person|user/i,
    /\b(?:named|called)\s+(\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)*|[\p{L}\d_-]+)|(?:叫|名为)\s*(\p{Script=Han}{2,6})/u,
  ],
  [
    /query|keyword|search|topic|subject|text|message|content|question/i,
    /\b(?:about|saying|(?:search|look|ask)\b[^.?!]{0,40}?\bfor|\blook up)\s+([^.?!]{1,300})|(?:关于|搜索|搜一下|查一下|上网查)\s*([^。？！]{1,300})/iu,
  ],
];

/** Maximum length of a property name that is searched for in a question. */
const MAX_NAME_CHARS = 40;

/** Values in a question for a tool's arguments. Each number and each quoted text is returned once, in order. */
export class QuestionValues {
  readonly #question: string;
  readonly #numbers: number[];
  readonly #quoted: string[];

  constructor(question: string) {
    this.#question = question.replace(/\s+/g, ' ');
    this.#numbers = (question.replace(NO_NUMBERS, ' ').match(NUMBERS) ?? []).map(toNumber);
    this.#quoted = [...question.matchAll(QUOTED)].map(firstGroup);
  }

  /** A number next to the property's name: `sides = 6`, `6 sides`, `count 3`. */
  namedNumber(name: string): number | undefined {
    const word = asPattern(name);
    if (word === undefined) return undefined;
    // One or two letters are often a separate word.
    const isWord = name.length > 2;
    const after = new RegExp(
      String.raw`(?<![\p{L}\d_])${word}s?(?:${IS}${isWord ? String.raw`|\s+` : ''})(${NUMBER})`,
      'iu',
    );
    const before = new RegExp(String.raw`(?<![\w.]|\d,(?=\d{3}(?!\d)))(${NUMBER})[\s-]*${word}(?![\p{L}\d])`, 'iu');
    const found = after.exec(this.#question) ?? (isWord ? before.exec(this.#question) : null);
    const value = found?.[1] === undefined ? undefined : toNumber(found[1]);
    const place = value === undefined ? -1 : this.#numbers.indexOf(value);
    if (place >= 0) this.#numbers.splice(place, 1);
    return value;
  }

  /** The next number that was not returned yet. */
  nextNumber(isWhole: boolean): number | undefined {
    const place = isWhole ? this.#numbers.findIndex((value) => Number.isInteger(value)) : 0;
    return place < 0 ? undefined : this.#numbers.splice(place, 1)[0];
  }

  /**
   * A text for the property: by its name (`unit = kelvin`), otherwise the next quoted text, otherwise by the kind that the
   * name implies (an id, a place).
   */
  text(name: string): string | undefined {
    return this.#namedText(name) ?? this.#quoted.shift() ?? this.#textOfKind(name);
  }

  #namedText(name: string): string | undefined {
    const word = asPattern(name);
    if (word === undefined) return undefined;
    const named = new RegExp(String.raw`(?<![\p{L}\d_])${word}${IS}["“「\x60']?([^\s"”」\x60',;，；。？！?!]+)`, 'iu');
    return named.exec(this.#question)?.[1];
  }

  #textOfKind(name: string): string | undefined {
    if (/time_?zone|^tz$/i.test(name)) return timeZoneIn(this.#question);
    for (const [names, value] of KINDS) {
      const found = names.test(name) ? value.exec(this.#question) : null;
      if (found) return firstGroup(found).trim();
    }
    return undefined;
  }
}

/** Pattern for the spellings of a name: `time_zone`, `timeZone` and `time zone`. */
function asPattern(name: string): string | undefined {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').match(/[\p{L}\d]+/gu);
  return words && name.length <= MAX_NAME_CHARS ? words.join(String.raw`[\s_-]?`) : undefined;
}

function firstGroup(found: RegExpExecArray): string {
  return found.slice(1).find((group: string | undefined) => group !== undefined) ?? found[0];
}

function toNumber(text: string): number {
  return Number(text.replaceAll(',', ''));
}
