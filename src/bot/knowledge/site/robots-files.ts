import { KIB_BYTES, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import { fetchAddress } from '../../../shared/web/fetch-address.ts';
import { WebError } from '../../../shared/web/web-error.ts';
import type { RequestPacer } from './crawl-delay.ts';
import { isUrlAllowed, parseRobots, type RobotsRules } from './robots.ts';

/** Whether an address may be fetched. `unknown`: robots.txt is unavailable at present. */
export type RobotsVerdict = 'yes' | 'no' | 'unknown';

const MAX_BYTES = 2_048 * KIB_BYTES;
const REDIRECTS = 5;
const TOTAL_MS = 30 * SECOND_MS;
const MAX_PAUSE_MS = MINUTE_MS;
const NO_RULES: RobotsRules = { rules: [] };

/** The robots.txt rules of each host of a site, fetched once per crawl. A `Crawl-delay` increases the delay. */
export class RobotsFiles {
  readonly #egress: EgressPolicy;
  readonly #pace: RequestPacer;
  readonly #files = new Map<string, RobotsRules | undefined>();

  constructor(egress: EgressPolicy, pace: RequestPacer) {
    this.#egress = egress;
    this.#pace = pace;
  }

  /** @throws the signal's reason */
  async judge(url: URL, signal: AbortSignal): Promise<RobotsVerdict> {
    if (!this.#files.has(url.origin)) this.#files.set(url.origin, await this.#fetch(url, signal));
    const rules = this.#files.get(url.origin);
    if (!rules) return 'unknown';
    return (await isUrlAllowed(rules, url)) ? 'yes' : 'no';
  }

  /** @returns undefined if the rules are unavailable */
  async #fetch(url: URL, signal: AbortSignal): Promise<RobotsRules | undefined> {
    const asked = { egress: this.#egress, redirects: REDIRECTS, totalMs: TOTAL_MS, accept: 'text/plain, */*;q=0.1' };
    const fetching = () =>
      fetchAddress(new URL('/robots.txt', url).href, { ...asked, maxBytesOf: () => MAX_BYTES }, signal);
    try {
      const { status, body } = await this.#pace.next(fetching, signal);
      if (body) return this.#take(await parseRobots(new TextDecoder().decode(Buffer.concat(body))));
      // A missing robots.txt allows everything. An unavailable one must not be treated as missing.
      return status >= 400 && status < 500 && status !== 429 ? NO_RULES : undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof WebError)) throw error;
      return undefined;
    }
  }

  #take(rules: RobotsRules): RobotsRules {
    const askedMs = (rules.crawlDelaySec ?? 0) * SECOND_MS;
    this.#pace.pauseMs = Math.max(this.#pace.pauseMs, Math.min(askedMs, MAX_PAUSE_MS));
    return rules;
  }
}
