import { HOUR_MS, SECOND_MS, type NowMs } from '../../base/clock.ts';
import type { DeliveryHead, Platform, PostResult, ReadDelivery, RefusedDelivery, ReplyTraits } from '../platform.ts';
import { refusedFor } from '../refused-delivery.ts';
import { isResponseAddress } from './answer-command.ts';
import { createPushReplies } from './push-replies.ts';
import { checkBot, checkSocket, checkWebSignIn } from './check-settings.ts';
import { displayNameOf } from './display-name.ts';
import { fetchFile } from './media.ts';
import type { SlackClient } from './open-id.ts';
import { OwnApp } from './own-app.ts';
import { createSlackAccess, createSlackApi, type SlackApi } from './platform-api.ts';
import { EMPTY_ANSWER, ignored, readDelivery, readEnvelopeOf, type ReadOptions } from './read-delivery.ts';
import { MAX_REPLY_BYTES, renderReply, splitAnswer, splitReply } from './render-reply.ts';
import { keepSocket } from './socket/keep-socket.ts';
import type { Envelope } from './socket/read-frame.ts';
import { SOCKET_TIMING, type SocketTiming } from './socket/slack-socket.ts';
import { isSignedBy, signatureFields } from './verify-delivery.ts';
import { createWebSignIn } from './web-sign-in.ts';

/** Lengths of time that a test shortens. */
export interface SlackPace {
  /** Overrides the trait `postSettlesWithinMs`. Milliseconds. */
  settlesWithinMs: number;
  socket: Partial<SocketTiming>;
}

export interface SlackOptions {
  /** Empty where deliveries come over the socket: then nothing that calls the webhook is proven. */
  signingSecret: string;
  /** Opens the socket over which deliveries come; absent where Slack calls the webhook. */
  appToken?: string;
  botToken: string;
  /** Ends in `/api` or `/api/`; Slack's own unless told. */
  apiUrl?: string;
  /** Where its pages are; Slack's own unless told. */
  openUrl?: string;
  /** The app's client, where its web sign-in is set up, and where that returns to. */
  webSignIn?: { client: SlackClient; redirectUri: string };
  /** Native streams where the chat has them, or a message that is edited. */
  reply: 'stream' | 'edit';
  /** The models that people may choose here by name; none unless told. */
  models?: readonly string[];
  webhookWindowSec: number;
  nowMs: NowMs;
  /** Called with Slack's code when it takes no call until the operator mends the app. */
  onRefused?: (code: string) => void;
  pace?: Partial<SlackPace>;
}

/** Slack has no word for this. Its own limit of a request lies below, with room for what a network holds back. */
const SETTLES_WITHIN_MS = 30 * SECOND_MS;
/** Threads are read in tier 3, about 50 times a minute for all of a workspace's answers. */
const LOOK_UP_AGAIN_AFTER_MS = 8 * SECOND_MS;

/** A deployment serves one app in one workspace, so their ids are not part of any key: these words are. */
const TENANT = 'slack';
const APP = 'bot';

/** One append in 0.7 s keeps a reply within Slack's tier 4; edits are tier 3, at most one in 1.2 s (PLATFORM_FACTS.md slack-web-api). */
const EDIT_GAP_MS = { stream: 700, edit: 1_200 } as const;

/** Slack: Events API in, one growing message out. */
export function createSlack(options: SlackOptions): Platform {
  const apiUrl = withoutSlash(options.apiUrl ?? 'https://slack.com/api');
  const addresses = { apiUrl, openUrl: withoutSlash(options.openUrl ?? 'https://slack.com') };
  const access = createSlackAccess(options.onRefused);
  const api = createSlackApi(apiUrl, options.botToken, access);
  const { reply, nowMs, appToken } = options;
  const ownApp = new OwnApp(api);
  const reading: ReadOptions = {
    tenant: TENANT,
    app: APP,
    answersInThreads: reply === 'stream',
    bare: { models: options.models ?? [] },
    isOwnAddress: (address) => isResponseAddress(address, apiUrl),
    isStranger: (origin) => ownApp.isStranger(origin),
  };
  const timing = { ...SOCKET_TIMING, ...options.pace?.socket };
  const read = ({ type, payload }: Envelope) => readEnvelopeOf(type, payload, reading);
  const replyTraits: ReplyTraits = {
    delivery: reply === 'stream' ? 'append' : 'edit',
    // A message can be edited for as long as anybody waits; that a stream cannot is this folder's own affair.
    liveLifetimeMs: HOUR_MS,
    laterReplyLifetimeMs: 0,
    handoverMarginMs: 0,
    maxBytes: MAX_REPLY_BYTES,
    minEditGapMs: EDIT_GAP_MS[reply],
    thinking: 'status',
    reconcile: 'lookup',
    lookUpAfterMs: LOOK_UP_AGAIN_AFTER_MS,
    postSettlesWithinMs: options.pace?.settlesWithinMs ?? SETTLES_WITHIN_MS,
    deliveredWithinMs: 0,
  };
  return {
    name: 'slack',
    tenant: TENANT,
    app: APP,
    access,
    replyTraits,
    pending: () => ownApp.pending(),
    admit: (head) => admit(head, options, reading),
    connect:
      appToken === undefined
        ? undefined
        : (use) => keepSocket({ ...use, api: createSlackApi(apiUrl, appToken), timing, read }),
    renderReply,
    splitReply,
    splitAnswer,
    push: createPushReplies({ api, reply, nowMs, settlesWithinMs: replyTraits.postSettlesWithinMs }),
    canMention: true,
    writesMarkdownPrivately: true,
    writePrivately: (userId, text) => writePrivately(api, userId, text),
    fetchMedia: (mediaRef, maxBytes, signal) =>
      fetchFile({ mediaRef, apiUrl, botToken: options.botToken, maxBytes, signal }),
    plainUserId: (userId) => Promise.resolve(userId),
    displayNameOf: (userId) => displayNameOf(api, userId),
    isAppBrowser: (userAgent) => /\bSlack(?:_SSB)?\//i.test(userAgent),
    webSignIn:
      options.webSignIn && createWebSignIn({ client: options.webSignIn.client, addresses, ownApp, tenant: TENANT }),
    backToChat: () => ownApp.chatLink(),
    check: () =>
      Promise.all([
        checkBot(api),
        ...(appToken === undefined ? [] : [checkSocket(createSlackApi(apiUrl, appToken))]),
        ...(options.webSignIn ? [checkWebSignIn({ ...options.webSignIn, addresses })] : []),
      ]),
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Slack's certificate check may come unsigned, in a form as short as this. */
const LONGEST_CHECK_BYTES = 1_024;

function isForm({ headers }: DeliveryHead): boolean {
  return /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
}

function timeOf({ headers }: DeliveryHead): string {
  return String(headers['x-slack-request-timestamp']);
}

/** Whether it may be Slack's certificate check, which comes unsigned; nothing else of it is looked at then. */
function mayBeCheck(head: DeliveryHead): boolean {
  return isForm(head) && Number(head.headers['content-length']) < LONGEST_CHECK_BYTES;
}

function isCheck(body: Buffer): boolean {
  return new URLSearchParams(body.toString()).get('ssl_check') === '1';
}

function admit(head: DeliveryHead, options: SlackOptions, reading: ReadOptions): RefusedDelivery | ReadDelivery {
  const { signingSecret, appToken, webhookWindowSec: windowSec, nowMs } = options;
  if (appToken !== undefined) return refusedFor('no signature', timeOf(head), nowMs);
  const fields = signatureFields(head, { windowSec, nowMs });
  const isShortForm = mayBeCheck(head);
  if (typeof fields === 'string' && !isShortForm) return refusedFor(fields, timeOf(head), nowMs);
  return (body) => {
    if (isShortForm && isCheck(body)) return { kind: 'ignored', reason: 'certificate check', answer: EMPTY_ANSWER };
    if (typeof fields === 'string') return refusedFor(fields, timeOf(head), nowMs);
    if (!isSignedBy(signingSecret, fields, body)) return refusedFor('signature differs', timeOf(head), nowMs);
    return head.method === 'POST' ? readDelivery(body, isForm(head), reading) : ignored('not a delivery');
  };
}

/** Slack opens the private channel by itself when a message goes to a person's id. */
async function writePrivately(api: SlackApi, userId: string, text: string): Promise<PostResult> {
  const content = renderReply({ text, finished: true });
  const args = { channel: userId, markdown_text: content, unfurl_links: false, unfurl_media: false };
  const answer = await api.call('chat.postMessage', args);
  if (answer.kind === 'ok') return 'sent';
  return answer.kind === 'error' ? 'refused' : answer.kind;
}
