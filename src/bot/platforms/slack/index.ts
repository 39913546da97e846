import { createSecretKey, type KeyObject } from 'node:crypto';
import { HOUR_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { DeliveryHead, Platform, PostResult, DeliveryReader, RefusedDelivery, ReplyTraits } from '../platform.ts';
import { RefusalClassifier, type RefusalCallbacks } from '../write-meaning.ts';
import { refusedDelivery } from '../refused-delivery.ts';
import { isResponseAddress } from './answer-command.ts';
import { createPushReplies } from './push-replies.ts';
import { checkBot, checkSocket, checkWebSignIn, checkWorkspace } from './check-settings.ts';
import { displayNameOf } from './display-name.ts';
import { NameFinder } from './find-names.ts';
import { fetchFile, isFileAddress } from './media.ts';
import { createInstall } from './install.ts';
import type { Installations } from './installations.ts';
import { InstalledApp } from './installed-app.ts';
import type { SlackAddresses, SlackClient } from './open-id.ts';
import { OwnApp, type AppIdentity } from './own-app.ts';
import { createSlackAccess, createSlackApi, type SlackApi, type TokenSource } from './platform-api.ts';
import { readThread } from './read-thread.ts';
import { readTarget } from './reply-target.ts';
import { readDelivery, readEnvelopeOf, type Reading, type ReadOptions } from './read-delivery.ts';
import { MAX_REPLY_BYTES, renderReply, splitAnswer, splitReply } from './render-reply.ts';
import { EMPTY_ANSWER, ignored } from './place.ts';
import { SLACK_MEANINGS } from './refusals.ts';
import { keepSocket } from './socket/keep-socket.ts';
import type { Envelope } from './socket/read-frame.ts';
import { SOCKET_TIMING, type SocketTiming } from './socket/slack-socket.ts';
import { isSignedBy, signatureFields } from './verify-delivery.ts';
import { suggestPrompts } from './suggest-prompts.ts';
import { createWebSignIn } from './web-sign-in.ts';

/** Durations that tests shorten. */
export interface SlackPace {
  /** Overrides the trait `postSettlesWithinMs`. Milliseconds. */
  settlesWithinMs: number;
  socket: Partial<SocketTiming>;
}

/** Further workspaces of the same app, and the redirect address for the administrator who adds one. */
interface MoreWorkspaces {
  installations: Installations;
  redirectUri: string;
}

export interface SlackOptions {
  /** Empty if deliveries arrive over the socket; then every webhook call is refused. */
  signingSecret: string;
  /** Opens the socket over which deliveries arrive; absent if Slack calls the webhook. */
  appToken?: string;
  botToken: string;
  /** Ends in `/api` or `/api/`. Defaults to Slack's own address. */
  apiUrl?: string;
  /** Address of Slack's web pages. Defaults to Slack's own address. */
  openUrl?: string;
  /** Client credentials and redirect address of the web sign-in; absent if it is not configured. */
  webSignIn?: { client: SlackClient; redirectUri: string; more?: MoreWorkspaces };
  /** Native streams where the chat supports them, or a message that is edited. */
  reply: 'stream' | 'edit';
  /**
   * Models that people may select by name; whether thread replies after an answer need no mention; whether answers have
   * buttons (defaults to true).
   */
  talk?: { models: readonly string[]; followsThreads: boolean; hasButtons?: boolean };
  webhookWindowSec: number;
  nowMs: NowMs;
  refusalCallbacks?: RefusalCallbacks;
  pace?: Partial<SlackPace>;
}

/** Slack documents no limit. Its own request limit is shorter; the rest allows for network delays. */
const SETTLES_WITHIN_MS = 30 * SECOND_MS;
/** Thread reads are in tier 3: about 50 calls per minute for all answers in a workspace. */
const LOOK_UP_AGAIN_AFTER_MS = 8 * SECOND_MS;

/** Long enough for a state that is changing in Slack, short enough for a waiting person. */
const REFUSALS_PASS_WITHIN_MS = 10 * SECOND_MS;

/** Slack repeats a delivery that it has no response to after 3 s. */
const RESPONSE_DEADLINE_MS = 3 * SECOND_MS;
/** Tenant of the first workspace in keys, instead of its id. Further workspaces use their id, which begins with T. */
const TENANT = 'slack';
const APP = 'bot';

/**
 * One append per 0.7 s keeps a reply within Slack's tier 4; edits are tier 3, at most one per 1.2 s
 * (PLATFORM_FACTS.md slack-web-api).
 */
const EDIT_GAP_MS = { stream: 700, edit: 1_200 } as const;

/** Slack: receives through the Events API; each answer is one growing message. */
export function createSlack(options: SlackOptions): Platform {
  const apiUrl = withoutSlash(options.apiUrl ?? 'https://slack.com/api');
  const addresses = { apiUrl, openUrl: withoutSlash(options.openUrl ?? 'https://slack.com') };
  const access = createSlackAccess(options.refusalCallbacks?.onRefused);
  const writes = new RefusalClassifier(SLACK_MEANINGS, options.refusalCallbacks?.onWriteRefused);
  const api = createSlackApi(apiUrl, options.botToken, access, writes);
  const { appToken, webSignIn } = options;
  const verification: Verification = {
    signingKey: createSecretKey(Buffer.from(options.signingSecret)),
    ...{ appToken, webhookWindowSec: options.webhookWindowSec, nowMs: options.nowMs },
  };
  const more = webSignIn?.more;
  const ownApp = new OwnApp(api);
  const token = async () => options.botToken;
  const first = createWorkspace(options, { addresses, api, token, tenant: TENANT, ownApp });
  const others = new Map(
    more?.installations.teams.map((team) => {
      const app = new InstalledApp(team, more.installations);
      const tokenOf = async () => (await more.installations.find(team))?.token;
      const apiOf = createSlackApi(apiUrl, tokenOf, createSlackAccess(options.refusalCallbacks?.onRefused), writes);
      const parts = { addresses, api: apiOf, token: tokenOf, tenant: team, ownApp: app };
      return [team, createWorkspace(options, { ...parts, onLeft: () => app.left(apiOf) })];
    }),
  );
  const reading: Reading = ({ teamId }) => (others.get(teamId ?? '') ?? first).reading;
  const timing = { ...SOCKET_TIMING, ...options.pace?.socket };
  const read = ({ type, payload }: Envelope) => readEnvelopeOf(type, payload, reading);
  return {
    ...first.platform,
    access,
    ofTenant: more && ((tenant) => others.get(tenant)?.platform),
    install: more && createInstall({ ...more, client: webSignIn.client, addresses }),
    ready: () => waitForBoth(ownApp.ready(), more?.installations.refresh()),
    verifyHeaders: (head) => verifyHeaders(head, verification, reading),
    connect:
      appToken === undefined
        ? undefined
        : (use) => keepSocket({ ...use, api: createSlackApi(apiUrl, appToken), timing, read }),
    check: async () => {
      const checks = [
        checkBot(api, [...others.keys()]),
        ...[...others].flatMap(([team, { api: apiOf }]) =>
          more ? [checkWorkspace({ ...more, team, api: apiOf })] : [],
        ),
        ...(appToken === undefined ? [] : [checkSocket(createSlackApi(apiUrl, appToken))]),
        ...(webSignIn ? [checkWebSignIn({ ...webSignIn, addresses })] : []),
      ];
      return (await Promise.all(checks)).flat();
    },
  };
}

function waitForBoth(...waits: (Promise<unknown> | undefined)[]): Promise<unknown> | undefined {
  const open = waits.filter((wait) => wait !== undefined);
  return open.length === 0 ? undefined : Promise.all(open);
}

interface WorkspaceParts {
  addresses: SlackAddresses;
  api: SlackApi;
  token: TokenSource;
  tenant: string;
  ownApp: AppIdentity;
  onLeft?(): void;
}

interface Workspace {
  platform: Platform;
  reading: ReadOptions;
  api: SlackApi;
}

/**
 * One workspace: how its deliveries are read, and its outgoing calls. All deliveries arrive at the first workspace's
 * platform.
 */
function createWorkspace(options: SlackOptions, parts: WorkspaceParts): Workspace {
  const { addresses, api, token, tenant, ownApp, onLeft } = parts;
  const { apiUrl } = addresses;
  const { reply, nowMs } = options;
  const talk = options.talk ?? { models: [], followsThreads: false };
  const { followsThreads, hasButtons = true } = talk;
  const reading: ReadOptions = {
    tenant,
    app: APP,
    answersInThreads: reply === 'stream',
    followsThreads,
    bare: talk,
    isFileAddress: (address) => isFileAddress(address, apiUrl),
    isOwnAddress: (address) => isResponseAddress(address, apiUrl),
    isForeignOrigin: (origin) => ownApp.isForeignOrigin(origin),
    onLeft,
  };
  const replyTraits: ReplyTraits = {
    delivery: reply === 'stream' ? 'append' : 'edit',
    // A message can be edited for longer than a person waits. The shorter lifetime of a stream is handled in this folder.
    liveLifetimeMs: HOUR_MS,
    laterReplyLifetimeMs: 0,
    laterReplyUses: 'one',
    handoverMarginMs: 0,
    maxBytes: MAX_REPLY_BYTES,
    minEditGapMs: EDIT_GAP_MS[reply],
    thinking: 'status',
    reconcile: 'lookup',
    lookUpAfterMs: LOOK_UP_AGAIN_AFTER_MS,
    postSettlesWithinMs: options.pace?.settlesWithinMs ?? SETTLES_WITHIN_MS,
    refusalsPassWithinMs: REFUSALS_PASS_WITHIN_MS,
    deliveredWithinMs: 0,
  };
  const settlesWithinMs = replyTraits.postSettlesWithinMs;
  const placePrefix = tenant === TENANT ? '' : `${tenant}/`;
  const names = new NameFinder(api, nowMs);
  const platform: Platform = {
    name: 'slack',
    tenant,
    app: APP,
    replyTraits,
    responseDeadlineMs: RESPONSE_DEADLINE_MS,
    verifyHeaders: (head) => refusedDelivery('webhook is off', timeOf(head), nowMs),
    renderReply,
    splitReply,
    splitAnswer,
    push: createPushReplies({ api, apiUrl, reply, hasButtons, nowMs, settlesWithinMs, placePrefix }),
    canMention: true,
    followsThreads,
    writesMarkdownPrivately: true,
    writePrivately: (userId, text) => writePrivately(api, userId, text),
    suggest: (target, prompts, usual) => suggestPrompts(api, target, prompts, usual),
    fetchMedia: async (mediaRef, maxBytes, signal) =>
      fetchFile({ mediaRef, api, apiUrl, botToken: (await token()) ?? '', maxBytes, signal }),
    plainUserId: (userId) => Promise.resolve(userId),
    displayNameOf: (userId) => displayNameOf(api, userId),
    namesOf: (references) => names.find(references),
    readThread: (target) => readThread({ api, names, isFileAddress: reading.isFileAddress }, readTarget(target)),
    isAppBrowser: (userAgent) => /\bSlack(?:_SSB)?\//i.test(userAgent),
    webSignIn: options.webSignIn && createWebSignIn({ client: options.webSignIn.client, addresses, ownApp, tenant }),
    backToChat: () => ownApp.chatLink(),
    check: async () => [],
  };
  return { platform, reading, api };
}

function withoutSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/** Maximum size of Slack's certificate check, a form that may come unsigned. */
const MAX_CHECK_BYTES = 1_024;

function isForm({ headers }: DeliveryHead): boolean {
  return /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
}

function timeOf({ headers }: DeliveryHead): string {
  return String(headers['x-slack-request-timestamp']);
}

/** Whether a delivery may be Slack's certificate check, which comes unsigned and has no other effect. */
function mayBeCheck(head: DeliveryHead): boolean {
  return isForm(head) && Number(head.headers['content-length']) < MAX_CHECK_BYTES;
}

function isCheck(body: Buffer): boolean {
  return new URLSearchParams(body.toString()).get('ssl_check') === '1';
}

type Verification = Pick<SlackOptions, 'appToken' | 'webhookWindowSec' | 'nowMs'> & { signingKey: KeyObject };

function verifyHeaders(head: DeliveryHead, options: Verification, reading: Reading): RefusedDelivery | DeliveryReader {
  const { signingKey, appToken, webhookWindowSec: windowSec, nowMs } = options;
  if (appToken !== undefined) return refusedDelivery('webhook is off', timeOf(head), nowMs);
  const fields = signatureFields(head, { windowSec, nowMs });
  const isShortForm = mayBeCheck(head);
  if (typeof fields === 'string' && !isShortForm) return refusedDelivery(fields, timeOf(head), nowMs);
  return (body) => {
    if (isShortForm && isCheck(body)) return { kind: 'ignored', reason: 'certificate check', answer: EMPTY_ANSWER };
    if (typeof fields === 'string') return refusedDelivery(fields, timeOf(head), nowMs);
    if (!isSignedBy(signingKey, fields, body)) return refusedDelivery('signature differs', timeOf(head), nowMs);
    return head.method === 'POST' ? readDelivery(body, isForm(head), reading) : ignored('not a delivery');
  };
}

/** Slack opens the private channel itself when a message is sent to a person's id. */
async function writePrivately(api: SlackApi, userId: string, text: string): Promise<PostResult> {
  const content = renderReply({ text, finished: true });
  const args = { channel: userId, markdown_text: content, unfurl_links: false, unfurl_media: false };
  const answer = await api.call('chat.postMessage', args);
  if (answer.kind === 'ok') return 'sent';
  if (answer.kind !== 'error') return answer.kind;
  return answer.meaning === 'transient' ? 'declined' : 'refused';
}
