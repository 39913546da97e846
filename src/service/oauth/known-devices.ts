import type { KeyObject } from 'node:crypto';
import type { Context } from 'koa';
import { DAY_MS, type NowMs } from '../../shared/clock.ts';
import { hmacBase64Url, randomToken, sameSecret } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { readDevices, writeDevices } from './cookies.ts';

const KEY_PURPOSE = 'service-known-device';
const KNOWN_DAYS = 30;
/** Maximum people who share a browser; the one with the oldest sign-in is forgotten first. */
const MAX_PEOPLE = 5;
const ID_BYTES = 16;
/** 132 bits. */
const MAC_CHARS = 22;

/** Content of a browser's cookie: its id, and a signed mark for each person who signed in there with a password. */
interface Device {
  id: string;
  marks: readonly string[];
}

/**
 * Recognizes browsers in which a person signed in with a password within the last 30 days, by a signed cookie. The cookie
 * does not reveal who they were, and nothing is stored in Redis. It is not a credential: the password is still required.
 */
export class KnownDevices {
  readonly #keyRing: KeyRing;
  readonly #nowMs: NowMs;

  constructor(keyRing: KeyRing, nowMs: NowMs) {
    this.#keyRing = keyRing;
    this.#nowMs = nowMs;
  }

  /** The browser's id, if this person has signed in there before. */
  idFor(ctx: Context, username: string): string | undefined {
    const device = readDevice(ctx);
    return device?.marks.some((mark) => this.#isOf(username, device.id, mark)) ? device.id : undefined;
  }

  /** Records that a person has signed in here. */
  remember(ctx: Context, username: string): void {
    const { id, marks } = readDevice(ctx) ?? { id: randomToken(ID_BYTES), marks: [] };
    const others = marks.filter((mark) => this.#isInTime(mark) && !this.#isOf(username, id, mark));
    const day = Math.floor(this.#nowMs() / DAY_MS);
    const own = this.#mark(this.#keyRing.deriveKey(KEY_PURPOSE), { username, id, day });
    writeDevices(ctx, [id, own, ...others.slice(0, MAX_PEOPLE - 1)].join('.'), (KNOWN_DAYS * DAY_MS) / 1_000);
  }

  #isOf(username: string, id: string, mark: string): boolean {
    const day = dayOf(mark);
    return (
      this.#isInTime(mark) &&
      this.#keyRing.deriveKeys(KEY_PURPOSE).some((key) => sameSecret(mark, this.#mark(key, { username, id, day })))
    );
  }

  #isInTime(mark: string): boolean {
    return Math.floor(this.#nowMs() / DAY_MS) - dayOf(mark) <= KNOWN_DAYS;
  }

  #mark(key: KeyObject, { username, id, day }: { username: string; id: string; day: number }): string {
    return `${day}-${hmacBase64Url(key, `${id}|${day}|${username.toLowerCase()}`).slice(0, MAC_CHARS)}`;
  }
}

function readDevice(ctx: Context): Device | undefined {
  const [id, ...marks] = (readDevices(ctx) ?? '').split('.');
  return id === undefined || id === '' ? undefined : { id, marks };
}

function dayOf(mark: string): number {
  return Number(mark.slice(0, mark.indexOf('-')));
}
