import { HOUR_MS, type NowMs } from '../../shared/clock.ts';
import { findRefusedFields, statesUnsupported } from '../../shared/models/refusal-words.ts';
import { optionalFieldsOf, type OptionalField } from './request-body.ts';

/**
 * How long an engine's required request format is remembered. Afterwards the default is tried again, since engines are
 * updated.
 */
const REMEMBERED_MS = 6 * HOUR_MS;
/** Wording of engines that refuse a field without naming it. */
const REFUSES_SOME_FIELD =
  /(?:un(?:known|recognized|recognised|supported|expected)|extra|invalid|not (?:permitted|allowed|supported))[^.]{0,40}(?:field|parameter|argument|property|properties|input|keyword)|参数(?:有误|错误|非法|不支持)/i;
/** Wording of engines that require the reasoning before a tool call together with its result. */
const WANTS_THOUGHT =
  /missing[^.]{0,24}\breasoning_content\b|\breasoning_content\b[^.]{0,40}(?:missing|required|must be)/i;
const LOOKED_AT_CHARS = 4_096;
/** Statuses with which engines refuse a field. */
const REFUSALS = new Set([400, 422]);
/** Statuses of some engines that were started without tool support. The body must confirm that tools are the cause. */
const STARTED_WITHOUT = new Set([500, 501]);

/** Request format that each model's engine requires, as learned from recent refusals. */
export class RefusedFields {
  readonly #monotonicMs: NowMs;
  readonly #untilMs = new Map<string, Map<OptionalField, number>>();
  readonly #thoughtUntilMs = new Map<string, number>();
  readonly #thoughtFirstUntilMs = new Map<string, number>();

  constructor(monotonicMs: NowMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** Fields to omit from requests to this model. */
  of(model: string): Set<OptionalField> {
    const nowMs = this.#monotonicMs();
    const fields = [...(this.#untilMs.get(model) ?? [])].filter(([, untilMs]) => untilMs > nowMs);
    return new Set(fields.map(([field]) => field));
  }

  /** Whether a tool call is sent back with the reasoning that led to it. */
  wantsThought(model: string): boolean {
    return (this.#thoughtUntilMs.get(model) ?? 0) > this.#monotonicMs();
  }

  /** Records that the model's answer began with reasoning without an opening marker. */
  recordThoughtFirst(model: string): void {
    this.#thoughtFirstUntilMs.set(model, this.#monotonicMs() + REMEMBERED_MS);
  }

  thinksFirst(model: string): boolean {
    return (this.#thoughtFirstUntilMs.get(model) ?? 0) > this.#monotonicMs();
  }

  /** Call only after a change has helped: a refusal may mention a field but have another cause. */
  remember(model: string, { fields, wantsThought }: { fields: Iterable<OptionalField>; wantsThought: boolean }): void {
    const untilMs = this.#monotonicMs() + REMEMBERED_MS;
    const known = this.#untilMs.get(model) ?? new Map<OptionalField, number>();
    for (const field of fields) known.set(field, untilMs);
    this.#untilMs.set(model, known);
    if (wantsThought) this.#thoughtUntilMs.set(model, untilMs);
  }
}

/** Request format that an engine's refusal requires. */
export interface RefusalMeaning {
  refusedFields: OptionalField[];
  wantsThought: boolean;
}

/**
 * Determines which optional fields an engine's refusal concerns: those that it names or implies. If it refers to an unnamed
 * field, all optional fields except the tools, and the tools only if no other field is left. Empty if the refusal has
 * another cause.
 * @param body body of the refusal, untrusted; not stored
 */
export function readRefusal(status: number, body: string, sent: Readonly<Record<string, unknown>>): RefusalMeaning {
  const text = body.slice(0, LOOKED_AT_CHARS);
  const fields = optionalFieldsOf(sent);
  const meant = () => findRefusedFields(text, fields) as OptionalField[];
  if (STARTED_WITHOUT.has(status))
    return { refusedFields: statesUnsupported(text) ? meant() : [], wantsThought: false };
  if (!REFUSALS.has(status)) return { refusedFields: [], wantsThought: false };
  if (WANTS_THOUGHT.test(text)) return { refusedFields: [], wantsThought: true };
  const refusedFields = meant();
  if (refusedFields.length > 0 || !REFUSES_SOME_FIELD.test(text)) return { refusedFields, wantsThought: false };
  const others = fields.filter((field) => field !== 'tools');
  return { refusedFields: others.length > 0 ? others : fields, wantsThought: false };
}
