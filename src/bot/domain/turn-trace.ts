import type { DeliveryId } from './ids.ts';
import { monotonicMs, type NowMs } from '../../shared/clock.ts';

/** Digits of a delivery id that a person is given. */
const REFERENCE_DIGITS = 8;

/** The reference of a question, which a person can tell to an administrator. */
export function referenceOf(id: DeliveryId): string {
  return id.slice(0, REFERENCE_DIGITS);
}

/** Steps of a turn, each followed by its values. Stored data: a letter never changes its meaning. */
export const TRACE_STEPS = {
  m: ['model asked', 'model'],
  f: ['first token'],
  h: ['model call ended', 'model', 'outcome', 'firstEventMs', 'durationMs'],
  u: ['tokens', 'prompt', 'answer'],
  s: ['snapshots', 'count', 'firstMs'],
  p: ['posts', 'count', 'firstMs'],
  e: ['edits', 'count', 'firstMs'],
  g: ['moderated', 'kind', 'verdict'],
  r: ['refused', 'by'],
  a: ['answer of an earlier worker', 'from'],
  x: ['error', 'code'],
  c: ['ended', 'outcome'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type TraceStep = keyof typeof TRACE_STEPS;
/** Steps of which only the number, the first and the last are stored. */
type CountedStep = 's' | 'p' | 'e';

/** Maximum stored steps of one claim; a question that uses many tools has about 30. */
const MAX_STEPS = 60;

/**
 * What one worker does for a turn, with times since its claim and without any text. Kept in memory and stored by the scripts
 * that write anyway, so that the next worker's claim finds it (queue/read-trace.ts reads it).
 */
export class TurnTrace {
  readonly #nowMs: NowMs;
  readonly #startedMs: number;
  readonly #steps: string[] = [];
  readonly #counted = new Map<CountedStep, { count: number; firstMs: number; lastMs: number }>();
  #changes = 0;
  #storedChanges = 0;

  readonly #epoch: number;

  /** @param epoch of the claim, by which the stored steps are recognised */
  constructor(epoch: number, nowMs: NowMs = monotonicMs) {
    this.#epoch = epoch;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  note(step: Exclude<TraceStep, CountedStep>, ...values: readonly (string | number)[]): void {
    if (this.#steps.length >= MAX_STEPS && step !== 'c') return;
    this.#changes += 1;
    this.#steps.push([this.#ageMs, step, ...values.map(escaped)].join(','));
  }

  count(step: CountedStep): void {
    const lastMs = this.#ageMs;
    const { count = 0, firstMs = lastMs } = this.#counted.get(step) ?? {};
    this.#changes += 1;
    this.#counted.set(step, { count: count + 1, firstMs, lastMs });
  }

  /** The epoch and all steps in the stored form. */
  text(): string {
    const counted = [...this.#counted].map(([step, { count, firstMs, lastMs }]) =>
      [lastMs, step, count, firstMs].join(','),
    );
    return [this.#epoch, ...this.#steps, ...counted].join(';');
  }

  /** The same if it has changed since the last call, else empty. */
  unstored(): string {
    if (this.#changes === this.#storedChanges) return '';
    this.#storedChanges = this.#changes;
    return this.text();
  }

  get #ageMs(): number {
    return Math.round(this.#nowMs() - this.#startedMs);
  }
}

/** Values contain none of the separators of the stored form. */
function escaped(value: string | number): string {
  return String(value).replace(/[%,;|~]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
}

export function unescaped(value: string): string {
  return value.replace(/%([0-9a-f]{2})/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
