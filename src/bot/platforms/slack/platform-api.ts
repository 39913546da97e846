import { SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { definedOnly } from '../../../shared/defined-only.ts';
import { requestBounded, type BoundedAnswer, type BoundedRequest } from '../bounded-request.ts';
import { FENCE_HOLDS_MS } from '../platform.ts';
import { PlatformAccess } from '../platform-access.ts';
import { PlatformError } from '../platform-error.ts';
import { WriteJudge, type Refusal } from '../write-meaning.ts';
import { methodUrl, type AppMethod, type BotMethod } from './app-rights.ts';
import { isWrite, SLACK_MEANINGS } from './refusals.ts';

/**
 * What a call came to. HTTP is 200 even for failures, so `ok` decides (PLATFORM_FACTS.md slack-web-api).
 * `busy`: nothing was done, try again after the pause. `uncertain`: it may or may not have happened. `unauthorised`: Slack
 * takes no such call until the operator mends the app. `grantedScopes` are those of the token, comma-separated, where Slack says.
 */
export type SlackAnswer =
  | { kind: 'ok'; body: Record<string, unknown>; grantedScopes?: string }
  | { kind: 'error'; error: string; meaning: Refusal | 'stopped' }
  | { kind: 'busy'; retryAfterMs: number }
  | { kind: 'uncertain' }
  | { kind: 'unauthorised'; error: string };

/** Which calls there are, and what right each needs, is told in `app-rights.ts`. */
export interface SlackApi<Method extends BotMethod | AppMethod = BotMethod> {
  /**
   * Calls a method with JSON and the token. Never throws for what Slack answers or does not answer.
   * @param timeoutMs limit of the whole call; 5 s unless told
   */
  call(method: Method, args: Record<string, unknown>, timeoutMs?: number): Promise<SlackAnswer>;
}

/** Refusals of one kind of call. Others are of the whole app: any call that is taken shows that they are over. */
const OF_ONE_CALL = new Set(['missing_scope', 'no_permission', 'access_denied', 'not_allowed_token_type']);
const DEFAULT_RETRY_AFTER_MS = SECOND_MS;
const LONGEST_RETRY_AFTER_MS = 60 * SECOND_MS;
const CALL_TIMEOUT_MS = 5 * SECOND_MS;

/** What answers cannot be shown without; of other calls (a line of status) a refusal is no alarm. */
const NEEDED = /^(?:chat|conversations)\./;

/** What Slack's answers show of whether it takes our calls. @param onRefused called with Slack's code */
export function createSlackAccess(onRefused?: (code: string) => void): PlatformAccess {
  return new PlatformAccess((_, code) => !OF_ONE_CALL.has(code), onRefused);
}

/** A workspace's token as it is now; undefined where the app is not installed. Fast, and never rejects. */
export type TokenSource = () => Promise<string | undefined>;

/**
 * @param apiUrl ends in `/api`
 * @param access learns what Slack refuses until the operator mends the app
 * @param writes decides what a refusal means
 */
export function createSlackApi<Method extends BotMethod | AppMethod = BotMethod>(
  apiUrl: string,
  token: string | TokenSource,
  access = createSlackAccess(),
  writes = new WriteJudge(SLACK_MEANINGS),
): SlackApi<Method> {
  const tell = (method: string, answer: SlackAnswer) => {
    if (answer.kind === 'ok') access.taken(method);
    if (answer.kind === 'unauthorised' && NEEDED.test(method)) access.refused(method, answer.error);
    return answer;
  };
  return {
    async call(method, args, timeoutMs = CALL_TIMEOUT_MS) {
      const url = new URL(methodUrl(apiUrl, method));
      try {
        const bearer = typeof token === 'string' ? token : await token();
        // Nothing was done, and only an administrator can mend it.
        if (bearer === undefined) return { kind: 'unauthorised', error: 'app_uninstalled' };
        const headers = { authorization: `Bearer ${bearer}` };
        const limits = { timeoutMs, leavesWithinMs: FENCE_HOLDS_MS };
        const request = { method: 'POST', ...bodyOf(method, args, headers), ...limits } as const;
        const answer = await outsideCall(`slack.${method}`, () => requestBounded(url, request));
        return tell(method, judge(answer, method, writes));
      } catch (error) {
        // A process that was frozen before the call left asks the fence anew: somebody else may have taken over.
        if (error instanceof PlatformError && error.code === 'unsent') return { kind: 'busy', retryAfterMs: 0 };
        if (error instanceof PlatformError) return { kind: 'uncertain' };
        throw error;
      }
    },
  };
}

/** The calls about files take a form; what is nested in one is JSON (PLATFORM_FACTS.md slack-files). */
function bodyOf(
  method: string,
  args: Record<string, unknown>,
  headers: Record<string, string>,
): Pick<BoundedRequest, 'json' | 'text' | 'headers'> {
  if (!method.startsWith('files.')) return { json: args, headers };
  const fields = Object.entries(definedOnly(args)).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const text = new URLSearchParams(fields).toString();
  return { text, headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' } };
}

function judge({ status, body, retryAfter, headers }: BoundedAnswer, method: string, writes: WriteJudge): SlackAnswer {
  const busy = (): SlackAnswer => ({ kind: 'busy', retryAfterMs: retryAfterMs(retryAfter) });
  if (status === 429) return busy();
  const answer = readAnswer(body);
  if (status >= 500 || answer === undefined) return { kind: 'uncertain' };
  if (answer['ok'] === true) return { kind: 'ok', body: answer, grantedScopes: textIn(headers['x-oauth-scopes']) };
  const error = typeof answer['error'] === 'string' ? answer['error'] : 'unknown';
  const meaning = isWrite(method) ? writes.judge(method, error) : writes.meaningOf(method, error);
  if (meaning === 'rate-limited') return busy();
  if (meaning === 'unknown-fate') return { kind: 'uncertain' };
  return meaning === 'unauthorised' ? { kind: 'unauthorised', error } : { kind: 'error', error, meaning };
}

function textIn(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

function retryAfterMs(header: string | undefined): number {
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : Number.NaN;
  return Number.isNaN(seconds) ? DEFAULT_RETRY_AFTER_MS : Math.min(seconds * SECOND_MS, LONGEST_RETRY_AFTER_MS);
}

/** An object that says whether it is ok; every snapshot of an answer brings one, so it is read by hand. */
function readAnswer(body: Buffer): Record<string, unknown> | undefined {
  try {
    const answer = JSON.parse(body.toString('utf8')) as Record<string, unknown> | null;
    return typeof answer?.['ok'] === 'boolean' ? answer : undefined;
  } catch {
    return undefined;
  }
}
