import { z } from 'zod';
import { HOUR_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import type { WecomAnswer, WecomApi } from './platform-api.ts';

const MAX_REMEMBERED = 5_000;
const REMEMBER_MS = HOUR_MS;
/** How long a result is cached that relies only on the id's form because the platform could not be asked. */
const REMEMBER_GUESS_MS = MINUTE_MS;
const USER_UNKNOWN = 60_111;
/** The form of WeCom's encrypted ids. A company's own ids rarely match. */
const LOOKS_ENCRYPTED = /^wo[\w-]{18,}$/;

const conversionShape = z.object({
  userid_list: z.array(z.object({ open_userid: z.string(), userid: z.string().min(1) })).default([]),
});

interface Found {
  userId: string | undefined;
  forMs: number;
}

/**
 * Converts sender ids to plain user ids. Sender ids are encrypted unless a super administrator created the bot, and an id
 * does not say which it is. With the self-built app, the platform is asked; without it, an id that looks encrypted cannot be
 * converted.
 */
export class PlainUserIds {
  readonly #api: WecomApi | undefined;
  readonly #nowMs: NowMs;
  readonly #cache = new Map<string, { userId: string | undefined; untilMs: number }>();

  /** @param api undefined without the self-built app */
  constructor(api: WecomApi | undefined, nowMs: NowMs) {
    this.#api = api;
    this.#nowMs = nowMs;
  }

  /**
   * @returns undefined if the id cannot be converted. @throws PlatformError if an id looks encrypted and the platform cannot
   * be asked now
   */
  async find(userId: string): Promise<string | undefined> {
    const known = this.#cache.get(userId);
    if (known && known.untilMs > this.#nowMs()) return known.userId;
    const found = await this.#ask(userId);
    this.#cache.delete(userId);
    this.#cache.set(userId, { userId: found.userId, untilMs: this.#nowMs() + found.forMs });
    const oldest = this.#cache.keys().next().value;
    if (this.#cache.size > MAX_REMEMBERED && oldest !== undefined) this.#cache.delete(oldest);
    return found.userId;
  }

  async #ask(userId: string): Promise<Found> {
    const isEncrypted = LOOKS_ENCRYPTED.test(userId);
    const byLooks = { userId: isEncrypted ? undefined : userId, forMs: REMEMBER_GUESS_MS };
    if (!this.#api) return byLooks;
    try {
      const converted = await this.#convert(this.#api, userId);
      if (converted !== undefined) return { userId: converted, forMs: REMEMBER_MS };
      // WeCom reports both plain ids and unknown ids as not convertible.
      const { errcode } = await this.#read(this.#api, userId);
      if (errcode === 0) return { userId, forMs: REMEMBER_MS };
      return errcode === USER_UNKNOWN ? { userId: undefined, forMs: REMEMBER_GUESS_MS } : byLooks;
    } catch (error) {
      if (isEncrypted) throw error;
      return byLooks;
    }
  }

  async #convert(api: WecomApi, userId: string): Promise<string | undefined> {
    const path = '/cgi-bin/batch/openuserid_to_userid';
    const answer = await api.call({ method: 'POST', path, json: { open_userid_list: [userId] } });
    const read = conversionShape.safeParse(answer);
    if (answer.errcode !== 0 || !read.success) return undefined;
    return read.data.userid_list.find((pair) => pair.open_userid === userId)?.userid;
  }

  #read(api: WecomApi, userId: string): Promise<WecomAnswer> {
    return api.call({ method: 'GET', path: '/cgi-bin/user/get', query: { userid: userId } });
  }
}
