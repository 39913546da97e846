import { hash } from 'node:crypto';
import type { NowMs } from '../../shared/clock.ts';
import type { PersonView } from '../api.ts';
import type { Conversation, Directory } from '../directory.ts';

/** Slack's ids of the workspace, the app and its bot; none is secret. */
export const TEAM_ID = 'T0PARLEY0';
export const TEAM_NAME = 'Parley local';
export const APP_ID = 'A0PARLEY0';
export const BOT_ID = 'B0PARLEY0';
export const BOT_USER_ID = 'U0PARLEY0';

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Maps people and conversations to Slack ids: capital letters and digits, stable per object. */
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

  /** The conversation for a channel id or a person's id; writing to a person means their private chat. */
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

/** Slack id of a file. */
export function fileIdOf(mediaId: string): string {
  return `F${idOf(`file|${mediaId}`)}`;
}

/** Id of the event for a message; the same for every delivery. */
export function eventIdOf(kind: string, messageId: string): string {
  return `Ev${idOf(`event|${kind}|${messageId}`)}`;
}

/**
 * Generates message ids: seconds with six decimals, strictly increasing (PLATFORM_FACTS.md slack-messages: never a number).
 */
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

/** A message's id in the messenger. Slack's `ts` is unique only within its channel. */
export function messageIdOf(channelId: string, ts: string): string {
  return `${channelId}-${ts}`;
}

function idOf(text: string): string {
  return [...hash('sha256', text, 'buffer').subarray(0, 10)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}
