import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { HOUR_MS, SECOND_MS } from '../../../shared/clock.ts';
import { asError } from '../../../shared/coded-error.ts';
import { readSlashCommand } from '../../domain/slash-words.ts';
import { createMarkdownWriter } from '../markdown/markdown-writer.ts';
import { requestBounded } from '../bounded-request.ts';
import { PlatformError } from '../platform-error.ts';
import type { PlatformOptions } from '../platform-module.ts';
import { FENCE_VALID_MS, type Delivery, type Platform, type PushReplies, type PushResult } from '../platform.ts';
import { refusedDelivery, clockSkewSec } from '../refused-delivery.ts';

const NAME = 'pigeon';
const MAX_BYTES = 8_000;
const EMPTY = { status: 200, body: '' };

const messageShape = z.object({
  id: z.string().regex(/^\w{1,64}$/),
  chat: z.string().regex(/^\w{1,64}$/),
  from: z.string().regex(/^\w{1,64}$/),
  text: z.string(),
});

/** Pigeon has no mention syntax of its own; the writer neutralises what any platform might interpret. */
const writer = createMarkdownWriter({ name: NAME, unfinished: 'close', neutraliseOwnMentions: (text) => text });

/** Pigeon from the settings. */
export function create({ config, secrets, nowMs, postSettlesWithinMs, onRefused }: PlatformOptions): Platform {
  const secret = secrets.pigeonSecret ?? '';
  const url = new URL(`${config.pigeon.apiUrl}/messages`);
  const post = (chat: string, key: string, text: string) =>
    postMessage({ url, secret, onRefused }, { chat, key, text });
  const show = async (chat: string, key: string, text: string): Promise<PushResult> => {
    const result = await post(chat, key, text);
    if (result === 'sent') return { result, handle: `${chat}/${key}` };
    if (result === 'busy') return { result, retryAfterMs: SECOND_MS };
    return result === 'refused' ? { result, why: 'transient' } : { result };
  };
  const push: PushReplies = {
    open: (target, { content }, postKey) => show(target, postKey, content),
    update: (handle, { content }) => show(...readHandle(handle), content),
    // Posting the same key again addresses the same message.
    find: async (target, postKey) => ({ keyed: [`${target}/${postKey}`], orphans: [], pendingDeletes: [] }),
    remove: async (handle) => ((await post(...readHandle(handle), '')) === 'sent' ? 'gone' : 'later'),
    placeOf: (target) => target,
  };
  return {
    name: NAME,
    tenant: NAME,
    app: 'bot',
    replyTraits: {
      delivery: 'edit',
      liveLifetimeMs: HOUR_MS,
      laterReplyLifetimeMs: 0,
      laterReplyUses: 'one',
      handoverMarginMs: 0,
      maxBytes: MAX_BYTES,
      minEditGapMs: SECOND_MS,
      thinking: 'status',
      reconcile: 'key',
      lookUpAfterMs: SECOND_MS,
      postSettlesWithinMs: postSettlesWithinMs ?? 10 * SECOND_MS,
      refusalsPassWithinMs: 10 * SECOND_MS,
      deliveredWithinMs: 0,
    },
    responseDeadlineMs: 3 * SECOND_MS,
    verifyHeaders({ method, headers }) {
      const { 'x-pigeon-time': time, 'x-pigeon-signature': signature } = headers;
      if (method !== 'POST' || typeof time !== 'string' || typeof signature !== 'string')
        return refusedDelivery('no signature', null, nowMs);
      const offSec = clockSkewSec(time, nowMs);
      if (offSec === undefined || offSec > config.webhook.windowSec)
        return refusedDelivery('outside the time window', time, nowMs);
      return (body) =>
        isSigned(secret, { time, signature, body })
          ? readMessage(body)
          : refusedDelivery('signature differs', time, nowMs);
    },
    renderReply({ text, status, finished }) {
      if (!finished) return writer.renderGrowing(text, MAX_BYTES);
      return writer.renderFinished(text === '' ? (status ?? '') : text, MAX_BYTES);
    },
    splitReply: (text, reserveBytes = 0) => writer.split(text, MAX_BYTES - reserveBytes),
    splitAnswer: async (text, reserveBytes = 0) => writer.split(text, MAX_BYTES - reserveBytes),
    push,
    fetchMedia: async () => Promise.reject(new PlatformError('media_gone', 'Pigeon has no pictures')),
    plainUserId: async (userId) => userId,
    isAppBrowser: () => false,
    backToChat: () => undefined,
    check: async () => [{ name: 'Pigeon', verdict: 'ok', detail: `posts go to ${url.host}` }],
  };
}

interface Signed {
  time: string;
  signature: string;
  body: Buffer;
}

function isSigned(secret: string, { time, signature, body }: Signed): boolean {
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** @param body verified */
function readMessage(body: Buffer): Delivery {
  const read = messageShape.safeParse(parseJson(body));
  if (!read.success) return { kind: 'ignored', reason: 'not a message', answer: EMPTY };
  const { id, chat, from, text } = read.data;
  const slash = readSlashCommand(text);
  return {
    kind: 'message',
    message: {
      version: 1,
      platform: NAME,
      tenant: NAME,
      app: 'bot',
      messageId: id,
      chat: { kind: 'private', id: from },
      sender: { userId: from },
      parts: [{ type: 'text', text }],
      ...(slash ? { slash } : {}),
      replyTarget: chat,
    },
    answer: () => EMPTY,
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

interface Access {
  url: URL;
  secret: string;
  onRefused(code: string): void;
}

/** Sends within `FENCE_VALID_MS` or not at all: another process may take over the right to post. */
async function postMessage({ url, secret, onRefused }: Access, json: object): Promise<PushResult['result'] & string> {
  try {
    const headers = { authorization: `Bearer ${secret}` };
    const { status } = await requestBounded(url, {
      method: 'POST',
      json,
      headers,
      leavesWithinMs: FENCE_VALID_MS,
    });
    if (status < 300) return 'sent';
    if (status === 429) return 'busy';
    if (status >= 500) return 'uncertain';
    if (status !== 401 && status !== 403) return 'refused';
    onRefused(String(status));
    return 'unauthorised';
  } catch (thrown) {
    const error = asError(thrown);
    return error instanceof PlatformError && error.code === 'unsent' ? 'busy' : 'uncertain';
  }
}

function readHandle(handle: string): [chat: string, key: string] {
  const at = handle.indexOf('/');
  return [handle.slice(0, at), handle.slice(at + 1)];
}
