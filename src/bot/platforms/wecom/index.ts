import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import { textOfUtf8 } from '../../../shared/text/utf8.ts';
import type { DeliveryHead, Platform, DeliveryReader, RefusedDelivery, ReplyTraits } from '../platform.ts';
import type { AccessTokenStore } from './access-token.ts';
import { RefusalClassifier, type RefusalCallbacks } from '../write-meaning.ts';
import { refusedDelivery } from '../refused-delivery.ts';
import { createCallbackAnswers } from './callback-answers.ts';
import { checkWecom } from './check-settings.ts';
import { BOT_SOCKET_TIMING } from './connection/bot-socket.ts';
import { checkConnection } from './connection/check-connection.ts';
import { keepConnection, type WecomConnection } from './connection/keep-connection.ts';
import { postLater } from './connection/later-messages.ts';
import { ReplyPlaces } from './connection/reply-places.ts';
import { readAesKey, type AesKey } from './crypto.ts';
import { fetchMedia, isReplyAddress } from './media.ts';
import { PlainUserIds } from './plain-user-id.ts';
import { createWecomApi, type WecomAgent, type WecomApi } from './platform-api.ts';
import { createWecomAccess, replyLater } from './post-messages.ts';
import type { PrivateRate } from './private-rate.ts';
import { ignored, readDelivery, type ReadOptions } from './read-delivery.ts';
import { MAX_REPLY_BYTES, renderReply, splitAnswer, splitReply } from './render-reply.ts';
import { WECOM_MEANINGS } from './refusals.ts';
import { createMentionStripper } from './strip-mention.ts';
import { signatureFields, verifyDelivery } from './verify-delivery.ts';
import { splitPrivately, writePrivately } from './write-privately.ts';
import { createWebSignIn } from './web-sign-in.ts';
import { parseJson } from '../../../shared/parse-json.ts';

export type { AccessTokenStore, StoredToken } from './access-token.ts';
export { createPrivateRate } from './private-rate.ts';

/** Credentials and name of the AI bot. */
export interface WecomBot {
  /** The callback's token and EncodingAESKey (43 symbols). */
  token: string;
  aesKey: string;
  /** Name as shown in the chat; used to recognise mentions in groups. */
  name: string;
}

export interface WecomOptions {
  bot: WecomBot;
  /** Set if WeCom delivers over a connection; the callback's secrets are then unused. */
  connection?: WecomConnection;
  /** The self-built app. */
  agent?: WecomAgent;
  /** Base addresses. Default to the platform's own. */
  addresses?: { apiUrl?: string; openUrl?: string };
  /** Link of a card's body; without it a welcome is a text, and answers have no cards. */
  cardUrl?: string;
  /** Whether answers have a card with buttons. Defaults to false. */
  hasButtons?: boolean;
  webhookWindowSec: number;
  nowMs: NowMs;
  log: Log;
  tokenStore: AccessTokenStore;
  privateRate: PrivateRate;
  refusalCallbacks?: RefusalCallbacks;
}

/** A deployment serves one bot, so keys contain the company and this word instead of the bot's id. */
const APP = 'aibot';
const ONLY_TENANT = 'wecom';
/** WeCom ends a request after 5 s. */
const RESPONSE_DEADLINE_MS = 5 * SECOND_MS;

const REPLY_TRAITS: ReplyTraits = {
  delivery: 'pull',
  liveLifetimeMs: 6 * MINUTE_MS,
  laterReplyLifetimeMs: HOUR_MS,
  handoverMarginMs: 30 * SECOND_MS,
  maxBytes: MAX_REPLY_BYTES,
  // WeCom polls about once a second, so more frequent snapshots would not be seen.
  minEditGapMs: 250,
  thinking: 'block',
  laterReplyUses: 'one',
  reconcile: 'once',
  lookUpAfterMs: 0,
  postSettlesWithinMs: 0,
  refusalsPassWithinMs: 20 * SECOND_MS,
  // Three attempts of five seconds each, plus the pauses between them.
  deliveredWithinMs: 20 * SECOND_MS,
};

/** Traits over the connection: there are no polls, and the request of a message accepts further messages for a day. */
const CONNECTION_TRAITS: ReplyTraits = {
  ...REPLY_TRAITS,
  isNotified: true,
  laterReplyLifetimeMs: DAY_MS,
  laterReplyUses: 'many',
  // Each snapshot is a separate frame, and all answers share one connection.
  minEditGapMs: 400,
};

/**
 * WeCom's AI bot, by its callback or its connection. @throws PlatformError `bad_setting` if the EncodingAESKey is malformed
 */
export function createWecom(options: WecomOptions): Platform {
  const { bot, agent, addresses = {}, log, nowMs, tokenStore } = options;
  const apiUrl = withoutSlash(addresses.apiUrl ?? 'https://qyapi.weixin.qq.com');
  const openUrl = withoutSlash(addresses.openUrl ?? 'https://open.weixin.qq.com');
  const { connection } = options;
  const aesKey = connection ? undefined : readAesKey(bot.aesKey);
  const ownUrls = connection ? [apiUrl, connection.account.url] : [apiUrl];
  const places = connection && new ReplyPlaces(connection.redis, connection.keyRing, connection.account.botId);
  const api = createWecomApi({ apiUrl, agent, tokenStore, nowMs, log });
  const userIds = new PlainUserIds(agent ? api : undefined, nowMs);
  const access = createWecomAccess(options.refusalCallbacks?.onRefused);
  const writes = new RefusalClassifier(WECOM_MEANINGS, options.refusalCallbacks?.onWriteRefused);
  const posting = { api, apiUrl, log, userIds, access, writes };
  const tenant = agent?.corpId ?? ONLY_TENANT;
  const reading: ReadOptions = {
    tenant,
    app: APP,
    botName: bot.name,
    mention: createMentionStripper(bot.name),
    laterReplyHandle: ({ response_url: url }) => (url !== undefined && isReplyAddress(url, apiUrl) ? url : undefined),
  };
  return {
    name: 'wecom',
    tenant,
    app: APP,
    access,
    replyTraits: { ...(connection ? CONNECTION_TRAITS : REPLY_TRAITS), takesOffers: offersFrom(options) },
    responseDeadlineMs: RESPONSE_DEADLINE_MS,
    verifyHeaders: (head) =>
      aesKey
        ? verifyHeaders(head, options, { aesKey, reading })
        : refusedDelivery('webhook is off', head.query.get('timestamp'), nowMs),
    connect:
      connection &&
      ((use) =>
        keepConnection({
          ...connection,
          timing: { ...BOT_SOCKET_TIMING, ...connection.timing },
          ...{ use, reading, cardUrl: options.cardUrl, log, writes },
        })),
    renderReply,
    splitReply,
    splitAnswer,
    replyLater: places
      ? (handle, text, part = 0) => postLater(places, { handle, name: String(part), shown: { text } })
      : (handle, text) => replyLater(handle, text, posting),
    replyLaterAsFile: places && ((handle, file) => postLater(places, { handle, name: 'file', shown: { file } })),
    splitPrivately,
    writePrivately:
      agent &&
      ((userId, text, partOf) =>
        writePrivately({ userId, text, partOf }, { ...posting, agent, privateRate: options.privateRate })),
    fetchMedia: (mediaRef, maxBytes, signal) => fetchMedia({ mediaRef, ownUrls, aesKey, maxBytes, signal }),
    plainUserId: (userId) => userIds.find(userId),
    displayNameOf: agent && ((userId) => displayNameOf(api, userIds, userId)),
    webSignIn: agent && createWebSignIn(agent, api, openUrl),
    isAppBrowser,
    backToChat: (userAgent) => (isAppBrowser(userAgent) ? { kind: 'close-window', platform: 'wecom' } : undefined),
    check(isStart = false) {
      const tried = connection && (isStart ? undefined : () => checkConnection(connection));
      return checkWecom({ agent, api, bot: connection ? tried : 'callback' });
    },
  };
}

/**
 * When buttons are shown. Over the connection a card is a separate message after the answer
 * (PLATFORM_FACTS.md wecom-offers).
 */
function offersFrom({ hasButtons = false, cardUrl, connection }: WecomOptions): ReplyTraits['takesOffers'] {
  if (!hasButtons || cardUrl === undefined) return undefined;
  return connection ? 'finished' : 'growing';
}

interface Prepared {
  aesKey: AesKey;
  reading: ReadOptions;
}

function verifyHeaders(
  head: DeliveryHead,
  options: Pick<WecomOptions, 'bot' | 'webhookWindowSec' | 'nowMs' | 'cardUrl'>,
  { aesKey, reading }: Prepared,
): RefusedDelivery | DeliveryReader {
  const {
    bot: { token },
    webhookWindowSec: windowSec,
    nowMs,
    cardUrl,
  } = options;
  const fields = signatureFields(head, { windowSec, nowMs });
  if ('reason' in fields) return refusedDelivery(fields.reason, head.query.get('timestamp'), nowMs);
  const isHandshake = head.method === 'GET';
  return (body) => {
    const verified = verifyDelivery({ ...head, body }, fields, { token, aesKey });
    if (verified.verdict === 'refused') return { kind: 'refused', status: verified.status, reason: verified.reason };
    if (verified.verdict === 'undecryptable') {
      return isHandshake
        ? { kind: 'refused', status: 400, reason: 'the echo does not open' }
        : ignored('does not open');
    }
    const { plain } = verified;
    // WeCom compares the echoed bytes exactly, and waits one second for the answer.
    if (isHandshake)
      return { kind: 'handshake', answer: { status: 200, contentType: 'text/plain', body: plain.toString() } };
    const { nonce, timestamp } = fields;
    const sentAtMs = Number(timestamp) * SECOND_MS;
    return readDelivery(
      parseJson(textOfUtf8(plain) ?? ''),
      createCallbackAnswers({ token, aesKey, nowMs, nonce, cardUrl }),
      {
        ...reading,
        sentAtMs,
      },
    );
  };
}

/** Matches WeCom, and its editions for governments and on-premises servers. */
function isAppBrowser(userAgent: string): boolean {
  return /\bwxwork[a-z]*\//i.test(userAgent);
}

function withoutSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/**
 * A member's display name in WeCom. Undefined if the self-built app may not read it; WeCom then omits the name or returns
 * the id in its place.
 * @throws PlatformError if the platform does not answer
 */
async function displayNameOf(api: WecomApi, userIds: PlainUserIds, userId: string): Promise<string | undefined> {
  const plainUserId = await userIds.find(userId);
  if (plainUserId === undefined) return undefined;
  const { errcode, name } = await api.call({
    method: 'GET',
    path: '/cgi-bin/user/get',
    query: { userid: plainUserId },
  });
  const isName = errcode === 0 && typeof name === 'string' && name.trim() !== '' && name !== plainUserId;
  return isName ? name : undefined;
}
