import { fieldsOf } from '../../../shared/parse-json.ts';
import { MINUTE_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { plainName } from '../../../shared/text/html.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { settledWithin } from '../../../shared/settled-within.ts';
import { displayNameIn, displayNameOf } from './display-name.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

/** Maximum time that a turn waits for the names of people and channels mentioned in its question. */
const LOOK_UP_LIMIT_MS = 2 * SECOND_MS;
const CALL_TIMEOUT_MS = 3 * SECOND_MS;
const REMEMBER_MS = 10 * MINUTE_MS;
/** How long a failed lookup is cached. */
const REMEMBER_MISSING_MS = MINUTE_MS;
const MAX_REMEMBERED = 1_000;
/** From this many unknown people on, one list of people is requested instead of each person. */
const LISTED_FROM = 4;
/** Slack's maximum per page of `users.list`. */
const MAX_LISTED = 999;
/** How long the list is not requested again after it turned out to be only a part of the workspace. */
const NO_LIST_MS = 60 * MINUTE_MS;

/** Looks up the names of people and channels, and caches them. */
export class NameFinder {
  readonly #api: SlackApi;
  readonly #nowMs: NowMs;
  readonly #known = new Map<string, { name: Promise<string | undefined>; untilMs: number }>();
  #noListUntilMs = Number.NEGATIVE_INFINITY;

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

  /** Like `find`, for the many people of a thread: usually one call for all of them. Never rejects. */
  async findAll(references: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const people = references.filter((one) => /^@[UW]/.test(one) && !this.#isKnown(one));
    if (people.length >= LISTED_FROM && this.#noListUntilMs <= this.#nowMs()) await this.#list(new Set(people));
    return this.find(references);
  }

  /** Only the names that were asked for are kept (SECURITY.md mentioned-names). */
  async #list(wanted: Set<string>): Promise<void> {
    const answer = await this.#api.call('users.list', { limit: MAX_LISTED }, LOOK_UP_LIMIT_MS);
    const members = answer.kind === 'ok' ? answer.body['members'] : undefined;
    for (const member of Array.isArray(members) ? (members as unknown[]) : []) {
      const reference = `@${textOf(fieldsOf(member)['id']) ?? ''}`;
      if (!wanted.delete(reference)) continue;
      const name = shownName(displayNameIn(member));
      inBackground(() => this.#remember(reference, Promise.resolve(name)));
    }
    if (wanted.size > 0) this.#noListUntilMs = this.#nowMs() + NO_LIST_MS;
  }

  #isKnown(reference: string): boolean {
    const known = this.#known.get(reference);
    return known !== undefined && known.untilMs > this.#nowMs();
  }

  #nameOf(reference: string): Promise<string | undefined> {
    const known = this.#known.get(reference);
    if (known && known.untilMs > this.#nowMs()) return known.name;
    return this.#remember(reference, this.#ask(reference));
  }

  #remember(reference: string, name: Promise<string | undefined>): Promise<string | undefined> {
    const entry = { name, untilMs: this.#nowMs() + REMEMBER_MS };
    this.#known.delete(reference);
    this.#known.set(reference, entry);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    inBackground(() =>
      entry.name.then((found) => {
        if (found === undefined) entry.untilMs = this.#nowMs() + REMEMBER_MISSING_MS;
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
    return shownName(name);
  }

  async #channelName(id: string): Promise<string | undefined> {
    const answer = await this.#api.call('conversations.info', { channel: id }, CALL_TIMEOUT_MS);
    return answer.kind === 'ok' ? textOf(fieldsOf(answer.body['channel'])['name']) : undefined;
  }
}

function shownName(name = ''): string | undefined {
  const shown = plainName(name.replace(/\s+/g, ' '));
  return shown === '' ? undefined : shown;
}
