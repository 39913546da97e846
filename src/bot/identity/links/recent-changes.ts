import { HOUR_MS, MIB_BYTES, monotonicMs, type NowMs } from '../../../shared/clock.ts';
import { Fifo } from '../../../shared/fifo.ts';
import type { ArgsOf, KeysOf, ScriptShape } from '../../../shared/redis/script-shape.ts';
import type { COMMIT_LINK_SHAPE, UNLINK_SHAPE } from './link-shapes.ts';
import type { PersonId } from '../../domain/ids.ts';

/** As long as receivers keep the messages that may have changed something without an answer to show for it. */
const KEEP_MS = HOUR_MS;
const MOST = 10_000;
const MOST_BYTES = 8 * MIB_BYTES;

/** One change of a person's link as it was written: all that writing it again needs. What it says of the person is sealed. */
export type RecentChange = RecentLink | RecentUnlink;
export type RecentLink = Change<'linked', typeof COMMIT_LINK_SHAPE>;
export type RecentUnlink = Change<'unlinked', typeof UNLINK_SHAPE>;

interface Change<Kind, Shape extends ScriptShape> {
  kind: Kind;
  /** The link's key of the person, and the person sealed into it. */
  person: PersonId;
  who: string;
  /** Keys and arguments of the script that wrote it. */
  keys: KeysOf<Shape>;
  args: ArgsOf<Shape>;
  /** When it was written, by Redis' clock: of two changes the later one counts, whichever process brings it back. */
  atMs: number;
}

interface Kept {
  /** On the monotonic clock. */
  atMs: number;
  bytes: number;
  change: RecentChange;
}

/**
 * The links that this process has made and undone within an hour, and that a Redis which takes over from another may not
 * have got. At most 10,000 and 8 MiB; beyond that the oldest are forgotten.
 */
export class RecentChanges {
  readonly #nowMs: NowMs;
  readonly #kept = new Fifo<Kept>();
  #bytes = 0;

  /** @param nowMs the monotonic clock unless told */
  constructor(nowMs: NowMs = monotonicMs) {
    this.#nowMs = nowMs;
  }

  keep(change: RecentChange): void {
    const texts = [change.who, ...Object.values(change.keys), ...Object.values(change.args).map(String)];
    const bytes = texts.reduce((sum, text) => sum + text.length, 0);
    this.#kept.push({ atMs: this.#nowMs(), bytes, change });
    this.#bytes += bytes;
    this.#trim();
  }

  /** All that is kept, the oldest first. */
  all(): RecentChange[] {
    this.#trim();
    return [...this.#kept].map(({ change }) => change);
  }

  #trim(): void {
    for (let oldest = this.#kept.oldest; oldest; oldest = this.#kept.oldest) {
      const isFull = this.#kept.size > MOST || this.#bytes > MOST_BYTES;
      if (!isFull && this.#nowMs() - oldest.atMs < KEEP_MS) return;
      this.#kept.shift();
      this.#bytes -= oldest.bytes;
    }
  }
}
