import { MINUTE_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { plainName } from '../../../shared/text/html.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { settledWithin } from '../../../shared/settled-within.ts';
import { fieldsOf } from './body-fields.ts';
import { displayNameOf } from './display-name.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

/** Maximum time that a turn waits for the names of people and channels mentioned in its question. */
const LOOK_UP_LIMIT_MS = 2 * SECOND_MS;
const CALL_TIMEOUT_MS = 3 * SECOND_MS;
const REMEMBER_MS = 10 * MINUTE_MS;
/** How long a failed lookup is cached. */
const REMEMBER_MISSING_MS = MINUTE_MS;
const MAX_REMEMBERED = 1_000;

/** Looks up the names of people and channels, and caches them. */
export class NameFinder {
  readonly #api: SlackApi;
  readonly #nowMs: NowMs;
  readonly #known = new Map<string, { name: Promise<string | undefined>; untilMs: number }>();

  constructor(api: SlackApi, nowMs: NowMs) {
    this.#api = api;
    this.#nowMs = nowMs;
  }

  /**
   * The names of references (`@U1`, `#C1`), by reference. Names that Slack does not return in time are omitted. Never
   * rejects.
   */
  async find(references: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const asked = references.filter((one) => /^(?:@[UW]|#[CG])/.test(one));
    const pairs = asked.map(async (reference) => [reference, await this.#nameOf(reference)] as const);
    const found = await settledWithin(pairs, LOOK_UP_LIMIT_MS);
    return new Map(found.flatMap(([reference, name]) => (name === undefined ? [] : [[reference, name] as const])));
  }

  #nameOf(reference: string): Promise<string | undefined> {
    const known = this.#known.get(reference);
    if (known && known.untilMs > this.#nowMs()) return known.name;
    const entry = { name: this.#ask(reference), untilMs: this.#nowMs() + REMEMBER_MS };
    this.#known.delete(reference);
    this.#known.set(reference, entry);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    inBackground(() =>
      entry.name.then((name) => {
        if (name === undefined) entry.untilMs = this.#nowMs() + REMEMBER_MISSING_MS;
      }),
    );
    return entry.name;
  }

  /** Never rejects. */
  async #ask(reference: string): Promise<string | undefined> {
    const id = reference.slice(1);
    const name = await (reference.startsWith('@') ? displayNameOf(this.#api, id) : this.#channelName(id)).catch(
      () => undefined,
    );
    const shown = plainName((name ?? '').replace(/\s+/g, ' '));
    return shown === '' ? undefined : shown;
  }

  async #channelName(id: string): Promise<string | undefined> {
    const answer = await this.#api.call('conversations.info', { channel: id }, CALL_TIMEOUT_MS);
    return answer.kind === 'ok' ? textOf(fieldsOf(answer.body['channel'])['name']) : undefined;
  }
}
