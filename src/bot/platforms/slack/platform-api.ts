import { MIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { definedOnly } from '../../../shared/defined-only.ts';
import { requestBounded, type BoundedResponse, type BoundedRequest } from '../bounded-request.ts';
import { FENCE_VALID_MS } from '../platform.ts';
import { PlatformAccess } from '../platform-access.ts';
import { PlatformError } from '../platform-error.ts';
import { RefusalClassifier, type Refusal } from '../write-meaning.ts';
import { methodUrl, type AppMethod, type BotMethod } from './app-rights.ts';
import { isWrite, SLACK_MEANINGS } from './refusals.ts';
import { parseJson } from '../../../shared/parse-json.ts';

/**
 * Outcome of a call. HTTP is 200 even for failures, so `ok` decides (PLATFORM_FACTS.md slack-web-api). `busy`: nothing was
 * done, retry after the pause. `uncertain`: the call may or may not have been carried out; `isAnswered`: Slack itself says so,
 * and carries out nothing later. `unauthorised`: Slack refuses all such calls until the operator repairs the app. `grantedScopes`: scopes of the token, comma-separated, if Slack sends them.
 */
export type SlackResponse =
  | { kind: 'ok'; body: Record<string, unknown>; grantedScopes?: string }
  | { kind: 'error'; error: string; meaning: Refusal | 'stopped' }
  | { kind: 'busy'; retryAfterMs: number }
  | { kind: 'uncertain'; isAnswered?: boolean }
  | { kind: 'unauthorised'; error: string };

/** `app-rights.ts` lists the methods and the scopes that each needs. */
export interface SlackApi<Method extends BotMethod | AppMethod = BotMethod> {
  /**
   * Calls a method with JSON and the token. Never throws, whether Slack answers or not.
   * @param timeoutMs limit of the whole call. Defaults to 5 s
   */
  call(method: Method, args: Record<string, unknown>, timeoutMs?: number): Promise<SlackResponse>;
}

/** Refusals that concern one kind of call. All others concern the whole app and are resolved once any call succeeds. */
const OF_ONE_CALL = new Set(['missing_scope', 'no_permission', 'access_denied', 'not_allowed_token_type']);
const DEFAULT_RETRY_AFTER_MS = SECOND_MS;
const MAX_RETRY_AFTER_MS = 60 * SECOND_MS;
const CALL_TIMEOUT_MS = 5 * SECOND_MS;
/** A page of messages or people has up to a thousand entries of a few kilobytes. */
const PAGED = new Set(['conversations.history', 'conversations.replies', 'users.list']);
const MAX_PAGE_BYTES = 8 * MIB_BYTES;
/** The response to a write repeats the message, with up to 100 bytes per formatted word. */
const MAX_ANSWER_BYTES = MIB_BYTES;

/** Calls without which answers cannot be shown. A refusal of any other call (such as a status line) raises no alarm. */
const NEEDED = /^(?:chat|conversations)\./;

/** Tracks whether Slack takes our calls, by its answers. @param onRefused called with Slack's code */
export function createSlackAccess(onRefused?: (code: string) => void): PlatformAccess {
  return new PlatformAccess((_, code) => !OF_ONE_CALL.has(code), onRefused);
}

/** The current token of a workspace; undefined if the app is not installed there. Fast; never rejects. */
export type TokenSource = () => Promise<string | undefined>;

/**
 * @param apiUrl ends in `/api`
 * @param access records refusals that last until the operator repairs the app
 * @param writes decides what a refusal means
 */
export function createSlackApi<Method extends BotMethod | AppMethod = BotMethod>(
  apiUrl: string,
  token: string | TokenSource,
  access = createSlackAccess(),
  writes = new RefusalClassifier(SLACK_MEANINGS),
): SlackApi<Method> {
  const tell = (method: string, answer: SlackResponse) => {
    if (answer.kind === 'ok') access.recordSuccess(method);
    if (answer.kind === 'unauthorised' && NEEDED.test(method)) access.recordRefusal(method, answer.error);
    return answer;
  };
  const urls = new Map<string, URL>();
  const urlOf = (method: Method) => {
    const url = urls.get(method) ?? new URL(methodUrl(apiUrl, method));
    urls.set(method, url);
    return url;
  };
  return {
    async call(method, args, timeoutMs = CALL_TIMEOUT_MS) {
      const url = urlOf(method);
      try {
        const bearer = typeof token === 'string' ? token : await token();
        // Nothing was sent, and only an administrator can repair this.
        if (bearer === undefined) return { kind: 'unauthorised', error: 'app_uninstalled' };
        const isForm = method.startsWith('files.');
        const request = {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}` },
          json: isForm ? undefined : args,
          form: isForm ? formOf(args) : undefined,
          timeoutMs,
          maxBytes: PAGED.has(method) ? MAX_PAGE_BYTES : MAX_ANSWER_BYTES,
          leavesWithinMs: FENCE_VALID_MS,
        } as const;
        const answer = await outsideCall(`slack.${method}`, () => requestBounded(url, request));
        return tell(method, judge(answer, method, writes));
      } catch (error) {
        // The process was frozen before the call was sent, so another worker may have taken over; the fence must be checked
        // again.
        if (error instanceof PlatformError && error.code === 'unsent') return { kind: 'busy', retryAfterMs: 0 };
        if (error instanceof PlatformError) return { kind: 'uncertain' };
        throw error;
      }
    },
  };
}

/** File calls take a form; nested values are JSON (PLATFORM_FACTS.md slack-files). */
function formOf(args: Record<string, unknown>): BoundedRequest['form'] {
  const fields = Object.entries(definedOnly(args)).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return Object.fromEntries(fields);
}

function judge(
  { status, body, retryAfter, headers }: BoundedResponse,
  method: string,
  writes: RefusalClassifier,
): SlackResponse {
  const busy = (): SlackResponse => ({ kind: 'busy', retryAfterMs: retryAfterMs(retryAfter) });
  if (status === 429) return busy();
  const answer = readAnswer(body);
  if (status >= 500 || answer === undefined) return { kind: 'uncertain' };
  if (answer['ok'] === true) return { kind: 'ok', body: answer, grantedScopes: textIn(headers['x-oauth-scopes']) };
  const error = typeof answer['error'] === 'string' ? answer['error'] : 'unknown';
  const meaning = isWrite(method) ? writes.judge(method, error) : writes.meaningOf(method, error);
  if (meaning === 'rate-limited') return busy();
  if (meaning === 'unknown-fate') return { kind: 'uncertain', isAnswered: true };
  return meaning === 'unauthorised' ? { kind: 'unauthorised', error } : { kind: 'error', error, meaning };
}

function textIn(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

function retryAfterMs(header: string | undefined): number {
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : Number.NaN;
  return Number.isNaN(seconds) ? DEFAULT_RETRY_AFTER_MS : Math.min(seconds * SECOND_MS, MAX_RETRY_AFTER_MS);
}

/** An object with a boolean `ok`. Parsed without a schema, because every snapshot of an answer causes one. */
function readAnswer(body: Buffer): Record<string, unknown> | undefined {
  const answer = parseJson(body) as Record<string, unknown> | null | undefined;
  return typeof answer?.['ok'] === 'boolean' ? answer : undefined;
}
