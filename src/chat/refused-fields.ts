import { HOUR_MS, type NowMs } from '../base/clock.ts';
import { optionalFieldsOf, type OptionalField } from './request-body.ts';

/** How long a field is left out that a model's engine refused; afterwards it is tried once more, since engines are updated. */
const REMEMBERED_MS = 6 * HOUR_MS;
/** Words of engines that refuse a field without naming it. */
const REFUSES_SOME_FIELD =
  /(?:un(?:known|recognized|recognised|supported|expected)|extra|invalid|not (?:permitted|allowed|supported))[^.]{0,40}(?:field|parameter|argument|property|properties|input|keyword)/i;
const UNNAMED_TEXT_CHARS = 4_096;

/** Which optional fields each model's engine has refused lately. */
export class RefusedFields {
  readonly #monotonicMs: NowMs;
  readonly #untilMs = new Map<string, Map<OptionalField, number>>();

  constructor(monotonicMs: NowMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** Those that a request of this model does better without. */
  of(model: string): Set<OptionalField> {
    const nowMs = this.#monotonicMs();
    const fields = [...(this.#untilMs.get(model) ?? [])].filter(([, untilMs]) => untilMs > nowMs);
    return new Set(fields.map(([field]) => field));
  }

  remember(model: string, fields: Iterable<OptionalField>): void {
    const known = this.#untilMs.get(model) ?? new Map<OptionalField, number>();
    for (const field of fields) known.set(field, this.#monotonicMs() + REMEMBERED_MS);
    this.#untilMs.set(model, known);
  }
}

/**
 * Which of a request's optional fields an engine's refusal (400 or 422) is about: those that it names; all, where it speaks of
 * a field and names none. Empty where the refusal is about something else.
 * @param text the refusal's body, untrusted; it is looked at and not kept
 */
export function fieldsRefusedBy(text: string, sent: Readonly<Record<string, unknown>>): OptionalField[] {
  const fields = optionalFieldsOf(sent);
  const named = fields.filter((field) => namesField(text, field));
  if (named.length > 0) return named;
  return REFUSES_SOME_FIELD.test(text.slice(0, UNNAMED_TEXT_CHARS)) ? fields : [];
}

/** A name that is a word of its own, in quotation marks or not: `thinking` is not meant by `enable_thinking`. */
function namesField(text: string, field: string): boolean {
  // `user` is also the name of a role, and `tools` or `thinking` are words: these count only as names.
  const isWord = !field.includes('_');
  const pattern = isWord
    ? `(?:["'\`]|body\\.)${field}["'\`]|\\b${field}\\b[^.]{0,24}\\bnot support|not support[^.]{0,24}\\b${field}\\b`
    : `\\b${field}\\b`;
  return new RegExp(pattern, 'i').test(text);
}
