import { HOUR_MS, MIB_BYTES, monotonicMs, type NowMs } from '../../../shared/clock.ts';
import { Fifo } from '../../../shared/fifo.ts';
import type { ArgsOf, KeysOf, ScriptShape } from '../../../shared/redis/script-shape.ts';
import type { COMMIT_LINK_SHAPE, UNLINK_SHAPE } from './link-shapes.ts';
import type { PersonId } from '../../domain/ids.ts';

/** Receivers keep messages for the same time, so that those without a visible answer can be repeated. */
const KEEP_MS = HOUR_MS;
const MAX_CHANGES = 10_000;
const MAX_BYTES = 8 * MIB_BYTES;

/** One change of a person's link with everything needed to repeat it. Personal data in it is encrypted. */
export type RecentChange = RecentLink | RecentUnlink;
export type RecentLink = Change<'linked', typeof COMMIT_LINK_SHAPE>;
export type RecentUnlink = Change<'unlinked', typeof UNLINK_SHAPE>;

interface Change<Kind, Shape extends ScriptShape> {
  kind: Kind;
  /** The person's link key, and the encrypted person. */
  person: PersonId;
  who: string;
  /** Keys and arguments of the script call. */
  keys: KeysOf<Shape>;
  args: ArgsOf<Shape>;
  /** Time of the change by Redis' clock. The later of two changes wins, regardless of which process restores it. */
  atMs: number;
}

interface Kept {
  /** On the monotonic clock. */
  atMs: number;
  bytes: number;
  change: RecentChange;
}

/**
 * The links and unlinks of this process in the last hour, which a new Redis primary may lack. At most 10,000 changes and 8
 * MiB; beyond that the oldest are dropped.
 */
export class RecentChanges {
  readonly #nowMs: NowMs;
  readonly #kept = new Fifo<Kept>();
  #bytes = 0;

  /** @param nowMs defaults to the monotonic clock */
  constructor(nowMs: NowMs = monotonicMs) {
    this.#nowMs = nowMs;
  }

  add(change: RecentChange): void {
    const texts = [change.who, ...Object.values(change.keys), ...Object.values(change.args).map(String)];
    const bytes = texts.reduce((sum, text) => sum + text.length, 0);
    this.#kept.push({ atMs: this.#nowMs(), bytes, change });
    this.#bytes += bytes;
    this.#trim();
  }

  /** All remembered changes, oldest first. */
  all(): RecentChange[] {
    this.#trim();
    return [...this.#kept].map(({ change }) => change);
  }

  #trim(): void {
    for (let oldest = this.#kept.oldest; oldest; oldest = this.#kept.oldest) {
      const isFull = this.#kept.size > MAX_CHANGES || this.#bytes > MAX_BYTES;
      if (!isFull && this.#nowMs() - oldest.atMs < KEEP_MS) return;
      this.#kept.shift();
      this.#bytes -= oldest.bytes;
    }
  }
}
