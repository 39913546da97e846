import { z } from 'zod';
import { SECOND_MS } from '../../../shared/clock.ts';
import { callHttp, HttpCallError } from '../../../shared/http/call-http.ts';
import { parseJson } from '../../../shared/parse-json.ts';
import type { ModeratedKind } from './verdict.ts';

/** `away`: the service gave no usable answer in time. */
export type ServiceVerdict = 'allowed' | 'blocked' | 'away';

/** Asks the institution's moderation service. @throws the signal's reason */
export type AskModeration = (text: string, kind: ModeratedKind, signal: AbortSignal) => Promise<ServiceVerdict>;

const LIMIT_MS = 3 * SECOND_MS;
const OK = 200;
const answerSchema = z.object({ allow: z.boolean() });

/** `POST {"text","kind"}` to `MODERATION_URL`, which answers `{"allow":boolean}` within three seconds. */
export function createAskModeration(url: string): AskModeration {
  const address = new URL(url);
  return async (text, kind, signal) => {
    try {
      const call = { method: 'POST', json: { text, kind }, timeoutMs: LIMIT_MS, signal } as const;
      const { status, body } = await callHttp(address, call);
      const read = answerSchema.safeParse(parseJson(body));
      if (status !== OK || !read.success) return 'away';
      return read.data.allow ? 'allowed' : 'blocked';
    } catch (error) {
      if (error instanceof HttpCallError) return 'away';
      throw error;
    }
  };
}
