import { hash } from 'node:crypto';
import type { NowMs } from '../../shared/clock.ts';
import type { PersonView } from '../api.ts';
import type { Conversation, Directory } from '../directory.ts';

/** Names that Slack gives to a workspace, an app and its bot; none is a secret. */
export const TEAM_ID = 'T0PARLEY0';
export const TEAM_NAME = 'Parley local';
export const APP_ID = 'A0PARLEY0';
export const BOT_ID = 'B0PARLEY0';
export const BOT_USER_ID = 'U0PARLEY0';

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** People and conversations under the ids by which Slack knows them: capital letters and digits, always the same for one. */
export class Workspace {
  readonly #directory: Directory;
  readonly #people = new Map<string, PersonView>();
  readonly #channels = new Map<string, Conversation>();

  constructor(directory: Directory) {
    this.#directory = directory;
    for (const person of directory.people) {
      this.#people.set(memberIdOf(person.id), person);
      for (const conversation of directory.conversationsOf(person.id))
        this.#channels.set(channelIdOf(conversation), conversation);
    }
  }

  person(memberId: string): PersonView | undefined {
    return this.#people.get(memberId);
  }

  /** The conversation behind a channel's id, or behind a person's: writing to a person goes to their private chat. */
  channel(id: string): Conversation | undefined {
    const known = this.#channels.get(id);
    const person = this.#people.get(id);
    if (known || !person) return known;
    return this.#directory.conversationsOf(person.id).find(({ kind }) => kind === 'private');
  }
}

export function memberIdOf(personId: string): string {
  return `U${idOf(`person|${personId}`)}`;
}

/** `D…` for a private chat, `C…` for a group. */
export function channelIdOf({ id, kind }: Pick<Conversation, 'id' | 'kind'>): string {
  return `${kind === 'private' ? 'D' : 'C'}${idOf(`channel|${id}`)}`;
}

/** A file's id in Slack. */
export function fileIdOf(mediaId: string): string {
  return `F${idOf(`file|${mediaId}`)}`;
}

/** The id of an event about a message; the same for every delivery of it. */
export function eventIdOf(kind: string, messageId: string): string {
  return `Ev${idOf(`event|${kind}|${messageId}`)}`;
}

/** Makes message ids: seconds with six decimals, each later than the one before (PLATFORM_FACTS.md slack-messages: never a number). */
export class TsClock {
  readonly #nowMs: NowMs;
  #lastMicros = 0;

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs;
  }

  next(): string {
    this.#lastMicros = Math.max(Math.floor(this.#nowMs()) * 1_000, this.#lastMicros + 1);
    const text = String(this.#lastMicros);
    return `${text.slice(0, -6)}.${text.slice(-6)}`;
  }
}

/** A message's id in the messenger. Slack's `ts` is unique in its channel only. */
export function messageIdOf(channelId: string, ts: string): string {
  return `${channelId}-${ts}`;
}

function idOf(text: string): string {
  return [...hash('sha256', text, 'buffer').subarray(0, 10)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}
