import { localize } from '../../shared/text/texts.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

/** Maximum length of an expression. No chat needs a longer one, and each nesting level is a recursive call. */
const MAX_CHARS = 100;
const SIGNIFICANT_DIGITS = 12;
const LEAD =
  /^(?:please|can you|could you|what(?:'s| is| are)|how much (?:is|are)|calculate|compute|reckon|solve|请问?|帮我|计算(?:一下)?|算(?:一下|一算)?|等于多少)[\s:：]*/i;
const TAIL = /(?:[=?？。.!！]|等于(?:多少|几)|是(?:多少|几))$/;
const SUM = /^[\d\s.+\-*/^()x×÷·,]+$/i;

/** Evaluates an expression such as `2+2` or `(3.5 - 1) × 4^2`; undefined if the text is not one. */
export function calculate({ text, language }: Question): Finding | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const sum = withoutFrame(text);
  if (!SUM.test(sum) || !/[+\-*/^x×÷·]/i.test(sum.replace(/^\D+|(?<!\D)\D+$/g, ''))) return undefined;
  const result = new Sum(sum).value();
  if (result === undefined) return undefined;
  const shown = Number.isFinite(result) ? Number(result.toPrecision(SIGNIFICANT_DIGITS)) : undefined;
  const thought = localize(BUILT_IN_TEXTS.thoughtSum, language);
  if (shown === undefined) return { text: localize(BUILT_IN_TEXTS.sumEndless, language), thought };
  return { text: `${sum.replace(/\s+/g, ' ')} = ${shown}`, thought };
}

/** The question without introductory words and final punctuation. */
function withoutFrame(text: string): string {
  let rest = text.trim();
  for (let lead = LEAD.exec(rest); lead; lead = LEAD.exec(rest)) rest = rest.slice(lead[0].length);
  for (let tail = TAIL.exec(rest); tail; tail = TAIL.exec(rest)) rest = rest.slice(0, tail.index).trimEnd();
  return rest;
}

/** Evaluates with the usual precedence; powers are right-associative. */
class Sum {
  readonly #signs: string[];
  #at = 0;

  constructor(text: string) {
    this.#signs = text.replace(/(?<=\d),(?=\d{3}\b)/g, '').match(/\d+(?:\.\d+)?|\.\d+|[^\s]/g) ?? [];
  }

  /** Undefined unless the whole text is an expression. */
  value(): number | undefined {
    const value = this.#sum();
    return this.#at === this.#signs.length ? value : undefined;
  }

  #sum(): number | undefined {
    let value = this.#product();
    while (value !== undefined && this.#isNext('+', '-')) {
      const sign = this.#signs[this.#at++];
      const right = this.#product();
      value = right === undefined ? undefined : sign === '+' ? value + right : value - right;
    }
    return value;
  }

  #product(): number | undefined {
    let value = this.#signed();
    while (value !== undefined && this.#isNext('*', 'x', 'X', '×', '·', '/', '÷')) {
      const isQuotient = ['/', '÷'].includes(this.#signs[this.#at++] ?? '');
      const right = this.#signed();
      value = right === undefined ? undefined : isQuotient ? value / right : value * right;
    }
    return value;
  }

  #signed(): number | undefined {
    if (!this.#isNext('-')) return this.#power();
    this.#at += 1;
    const value = this.#signed();
    return value === undefined ? undefined : -value;
  }

  #power(): number | undefined {
    const base = this.#single();
    if (base === undefined || !this.#isNext('^')) return base;
    this.#at += 1;
    const exponent = this.#signed();
    return exponent === undefined ? undefined : base ** exponent;
  }

  #single(): number | undefined {
    const sign = this.#signs[this.#at++];
    if (sign !== '(') return sign !== undefined && /^[\d.]*\d$/.test(sign) ? Number(sign) : undefined;
    const value = this.#sum();
    return this.#signs[this.#at++] === ')' ? value : undefined;
  }

  #isNext(...signs: string[]): boolean {
    return signs.includes(this.#signs[this.#at] ?? '');
  }
}
