import { HOUR_MS, type NowMs } from '../../shared/clock.ts';
import { fieldsMeant, saysCannot } from '../../shared/models/refusal-words.ts';
import { optionalFieldsOf, type OptionalField } from './request-body.ts';

/** How long is remembered how a model's engine wants to be asked; afterwards it is tried once more, since engines are updated. */
const REMEMBERED_MS = 6 * HOUR_MS;
/** Words of engines that refuse a field without naming it. */
const REFUSES_SOME_FIELD =
  /(?:un(?:known|recognized|recognised|supported|expected)|extra|invalid|not (?:permitted|allowed|supported))[^.]{0,40}(?:field|parameter|argument|property|properties|input|keyword)|参数(?:有误|错误|非法|不支持)/i;
/** Words of engines that want the thought before a call of a tool back with the call's result. */
const WANTS_THOUGHT =
  /missing[^.]{0,24}\breasoning_content\b|\breasoning_content\b[^.]{0,40}(?:missing|required|must be)/i;
const LOOKED_AT_CHARS = 4_096;
/** Statuses by which engines refuse a field. */
const REFUSALS = new Set([400, 422]);
/** Some answer so where they were started without tools; that they name them must be seen from their words. */
const STARTED_WITHOUT = new Set([500, 501]);

/** How each model's engine wants to be asked, as its refusals said lately. */
export class RefusedFields {
  readonly #monotonicMs: NowMs;
  readonly #untilMs = new Map<string, Map<OptionalField, number>>();
  readonly #thoughtUntilMs = new Map<string, number>();
  readonly #thoughtFirstUntilMs = new Map<string, number>();

  constructor(monotonicMs: NowMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** Those fields that a request of this model does better without. */
  of(model: string): Set<OptionalField> {
    const nowMs = this.#monotonicMs();
    const fields = [...(this.#untilMs.get(model) ?? [])].filter(([, untilMs]) => untilMs > nowMs);
    return new Set(fields.map(([field]) => field));
  }

  /** Whether a thought goes back with the call of a tool that came of it. */
  wantsThought(model: string): boolean {
    return (this.#thoughtUntilMs.get(model) ?? 0) > this.#monotonicMs();
  }

  /** Notes that a model's answer began with a thought that had no opening mark. */
  sawThoughtFirst(model: string): void {
    this.#thoughtFirstUntilMs.set(model, this.#monotonicMs() + REMEMBERED_MS);
  }

  thinksFirst(model: string): boolean {
    return (this.#thoughtFirstUntilMs.get(model) ?? 0) > this.#monotonicMs();
  }

  /** Only what has helped is remembered: a refusal may speak of a field and be about something else. */
  remember(model: string, { fields, wantsThought }: { fields: Iterable<OptionalField>; wantsThought: boolean }): void {
    const untilMs = this.#monotonicMs() + REMEMBERED_MS;
    const known = this.#untilMs.get(model) ?? new Map<OptionalField, number>();
    for (const field of fields) known.set(field, untilMs);
    this.#untilMs.set(model, known);
    if (wantsThought) this.#thoughtUntilMs.set(model, untilMs);
  }
}

/** What an engine's refusal says of how it wants to be asked. */
export interface RefusalMeaning {
  refusedFields: OptionalField[];
  wantsThought: boolean;
}

/**
 * Which of a request's optional fields an engine's refusal is about: those that it names or must mean; where it speaks of a
 * field and does not say of which, all but the tools, and these last. Empty where the refusal is about something else.
 * @param body the refusal's body, untrusted; it is looked at and not kept
 */
export function readRefusal(status: number, body: string, sent: Readonly<Record<string, unknown>>): RefusalMeaning {
  const text = body.slice(0, LOOKED_AT_CHARS);
  const fields = optionalFieldsOf(sent);
  const meant = () => fieldsMeant(text, fields) as OptionalField[];
  if (STARTED_WITHOUT.has(status)) return { refusedFields: saysCannot(text) ? meant() : [], wantsThought: false };
  if (!REFUSALS.has(status)) return { refusedFields: [], wantsThought: false };
  if (WANTS_THOUGHT.test(text)) return { refusedFields: [], wantsThought: true };
  const refusedFields = meant();
  if (refusedFields.length > 0 || !REFUSES_SOME_FIELD.test(text)) return { refusedFields, wantsThought: false };
  const others = fields.filter((field) => field !== 'tools');
  return { refusedFields: others.length > 0 ? others : fields, wantsThought: false };
}
