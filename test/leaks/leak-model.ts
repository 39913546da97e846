import type { GroupScope } from '../../src/bot/domain/conversation.ts';

/** The place of a message. */
export interface Spot {
  /** The second Slack workspace has people and channels with the same ids as the first. */
  platform: 'wecom' | 'slack' | 'slack2';
  kind: 'private' | 'group';
  /** The group, or the person in a private chat. */
  chat: string;
  thread?: string;
}

/** A message, identified by the canary in its text and in its answer. */
interface Said {
  person: string;
  account: string;
  /** The places whose prompts may contain it, each with the generation of the message. */
  places: Map<string, number>;
  /** Canaries of the quoted messages. */
  quotes: readonly number[];
}

const ERASED = -1;

/** `kq…`: a question, `ka…`: its answer, `ks…`: its mention in a summary. */
const CANARY = /k[qas](\d{5})x/g;

export const questionCanary = (id: number) => `kq${String(id).padStart(5, '0')}x`;
export const answerCanary = (id: number) => `ka${String(id).padStart(5, '0')}x`;
export const summaryCanary = (id: number) => `ks${String(id).padStart(5, '0')}x`;
export const canariesIn = (text: string) => [...text.matchAll(CANARY)].map(([, digits]) => Number(digits));

/**
 * The canaries that a prompt may contain, by rules implemented separately from the bot's. A place is a private chat, a
 * thread, or a group (per person if the scope says so); a private place also depends on the account; a new conversation
 * forgets.
 */
export class LeakModel {
  readonly #scope: GroupScope;
  readonly #said = new Map<number, Said>();
  readonly #generations = new Map<string, number>();

  constructor(scope: GroupScope) {
    this.#scope = scope;
  }

  say(words: { spot: Spot; person: string; account: string; quotes: readonly number[]; opens?: Spot }): number {
    const { spot, person, account, quotes, opens } = words;
    const id = this.#said.size + 1;
    const names = [spot, ...(opens ? [opens] : [])].map((one) => this.#place(one, person));
    const places = new Map(names.map((name) => [name, this.#generations.get(name) ?? 0]));
    this.#said.set(id, { person, account, places, quotes });
    return id;
  }

  /** Merges messages into one turn, the newest last. If the newest began a thread, all of them are its beginning. */
  merge(question: readonly number[]): void {
    const newest = this.#said.get(question.at(-1) ?? 0);
    for (const id of question) {
      const said = this.#said.get(id);
      if (!newest || said?.person !== newest.person) continue;
      const isOfOnePlace = [...said.places].some(([place, generation]) => newest.places.get(place) === generation);
      if (isOfOnePlace) for (const [place, generation] of newest.places) said.places.set(place, generation);
    }
  }

  /** The person starts a new conversation here. */
  forget(spot: Spot, person: string): void {
    const place = this.#place(spot, person);
    this.#generations.set(place, (this.#generations.get(place) ?? 0) + 1);
  }

  /** Deletes the person's messages in all places of this chat. */
  erase({ platform, chat }: Spot, person: string): void {
    const ofChat = new RegExp(`^[a-z]+/${platform}/(?:private/)?${chat}(?:/|$)`);
    for (const said of this.#said.values()) {
      if (said.person !== person) continue;
      for (const place of said.places.keys()) if (ofChat.test(place)) said.places.set(place, ERASED);
    }
  }

  get size(): number {
    return this.#said.size;
  }

  /**
   * Forbidden canaries in a prompt.
   * @param question those of its last message, in order: several messages may be merged into it, the newest last
   */
  crossings(canaries: readonly number[], question: readonly number[]): number[] {
    const asked = this.#said.get(question.at(-1) ?? 0);
    if (!asked) return [...canaries];
    const verdicts = [...asked.places].map(([place, generation]) => {
      const where = { place, generation };
      const merged = question.filter(
        (id) => this.#mayMeet(asked, id, where) && this.#said.get(id)?.person === asked.person,
      );
      const quoted = new Set(merged.flatMap((id) => this.#said.get(id)?.quotes ?? []));
      return canaries.filter((id) => !quoted.has(id) && !this.#mayMeet(asked, id, where));
    });
    return verdicts.reduce((least, verdict) => (verdict.length < least.length ? verdict : least));
  }

  /** Whether these canaries may occur in one text about a conversation, such as a summary request. */
  areOfOnePlace(canaries: readonly number[]): boolean {
    const first = this.#said.get(canaries[0] ?? 0);
    if (!first) return canaries.length === 0;
    return [...first.places].some(([place, generation]) =>
      canaries.every((id) => this.#mayMeet(first, id, { place, generation })),
    );
  }

  #mayMeet(asked: Said, id: number, { place, generation }: { place: string; generation: number }): boolean {
    const other = this.#said.get(id);
    if (other?.places.get(place) !== generation) return false;
    return place.startsWith('shared') || (other.person === asked.person && other.account === asked.account);
  }

  #place({ platform, kind, chat, thread = '' }: Spot, person: string): string {
    if (kind === 'private') return `own/${platform}/private/${chat}/${thread}`;
    if (thread !== '') return `shared/${platform}/${chat}/${thread}`;
    return this.#scope === 'group' ? `shared/${platform}/${chat}` : `own/${platform}/${chat}/${person}`;
  }
}
