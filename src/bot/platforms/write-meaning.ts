/**
 * Why a platform did not carry out a write, if it says so. Nothing was done in any case.
 * - `transient`: the same write may succeed later; also used for any code that is missing in the platform's table.
 * - `snapshot`: this text is refused in this form; another snapshot, or a plainer form, may be accepted.
 * - `method`: this method accepts nothing any more (the message is deleted or too old, or the method does not exist here);
 *   another method may work.
 * - `conversation`: nothing can be posted in this conversation.
 */
export type Refusal = 'transient' | 'snapshot' | 'method' | 'conversation';

/**
 * Meaning of a platform's answer to a write. `rate-limited`: nothing was done, retry after a pause. `unknown-fate`: the
 * write may or may not have been carried out. `unauthorised`: the platform refuses all such calls until the operator
 * repairs the app. `stopped`: the person ended the answer with the platform's own button.
 */
export type WriteMeaning = Refusal | 'rate-limited' | 'unknown-fate' | 'unauthorised' | 'stopped';

/** Meanings of a platform's codes: for all writes, with exceptions per write. Data only; the rules are in `RefusalClassifier`. */
export interface RefusalTable {
  every: Readonly<Partial<Record<WriteMeaning, readonly (string | number)[]>>>;
  /** By the name of the write. */
  of?: Readonly<Record<string, Readonly<Partial<Record<WriteMeaning, readonly (string | number)[]>>>>>;
}

/** One write that a platform did not carry out. */
export interface RefusedWrite {
  /** The platform's name of the method. */
  write: string;
  /** The platform's code; `other` if it does not look like a code. */
  code: string;
  meaning: WriteMeaning;
}

/** Callbacks for a platform's refusals; must not throw. */
export interface RefusalCallbacks {
  /** Called with the platform's code when it refuses all calls until the operator repairs the app. */
  onRefused?: (code: string) => void;
  /** Called for each write that the platform did not carry out. */
  onWriteRefused?: (refused: RefusedWrite) => void;
}

/** Limits the number of different values of a metric's label. */
const CODE = /^-?[a-z_0-9]{1,64}$/;

/**
 * The only place that decides what a platform's answer to a write means (RELIABILITY.md refused-writes). Each platform
 * contributes a table; an unlisted code is `transient`, and the reply module treats a refusal that does not pass in time as
 * permanent.
 */
export class RefusalClassifier {
  readonly #every: ReadonlyMap<string, WriteMeaning>;
  readonly #of: ReadonlyMap<string, ReadonlyMap<string, WriteMeaning>>;
  readonly #onRefused: (refused: RefusedWrite) => void;

  /** @param onRefused called for each write that was not carried out; must not throw */
  constructor({ every, of = {} }: RefusalTable, onRefused: (refused: RefusedWrite) => void = () => undefined) {
    this.#every = meaningsByCode(every);
    this.#of = new Map(Object.entries(of).map(([write, meanings]) => [write, meaningsByCode(meanings)]));
    this.#onRefused = onRefused;
  }

  /** @param code the platform's own code @returns what it means for this write */
  judge(write: string, code: string | number): WriteMeaning {
    const key = String(code);
    const meaning = this.meaningOf(write, key);
    this.#onRefused({ write, code: CODE.test(key) ? key : 'other', meaning });
    return meaning;
  }

  /** Like `judge` for a call that is not a write: nothing is counted. */
  meaningOf(write: string, code: string | number): WriteMeaning {
    const key = String(code);
    return this.#of.get(write)?.get(key) ?? this.#every.get(key) ?? 'transient';
  }
}

function meaningsByCode(meanings: RefusalTable['every']): ReadonlyMap<string, WriteMeaning> {
  return new Map(
    Object.entries(meanings).flatMap(([meaning, codes]) =>
      codes.map((code): [string, WriteMeaning] => [String(code), meaning as WriteMeaning]),
    ),
  );
}
