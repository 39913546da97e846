import type { KeyObject } from 'node:crypto';
import { HOUR_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { hmacBase64Url, randomToken, sha256Hex } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { tryOpen, tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { personKey, readChatPerson, type ChatPerson } from '../account.ts';
import { conversationText } from '../links/releases.ts';
import { keys, type IdentityStore } from '../store.ts';
import { TRANSACTION_LIFE_MS, type Transaction } from './transactions.ts';

const startScript = loadScript(import.meta.url, '../scripts/start.lua', {
  keys: ['ticket', 'transaction'],
  args: [
    ...(['nowMs', 'shownCookieHash', 'cookieHash', 'transactionText', 'transactionLifeMs'] as const),
    ...(['transactionPrefix', 'quarantinePrefix', 'maxStarts'] as const),
  ],
  answer: ['started', 'gone', 'too-often'],
});
const nameScript = loadScript(import.meta.url, '../scripts/name-invitation.lua', {
  keys: ['ticket'],
  args: ['sealedName'],
  answer: 'flag',
});
const closeScript = loadScript(import.meta.url, '../scripts/close-invitation.lua', {
  keys: ['ticket', 'liveTicket', 'quarantine'],
  args: ['status', 'ticketHash', 'closing'],
  answer: 'flag',
});

const SHOWN_NAME_PURPOSE = 'link-ticket-shown-name';
/** The pages show fewer characters. */
const MAX_NAME_CHARS = 128;
const INVITATION_PURPOSE = 'link-ticket-name';
const NAME_BYTES = 12;
const INVITATION_LIFE_MS = 10 * MINUTE_MS;
const MAX_INVITATIONS_PER_HOUR = 5;
/** A link is shown again only if enough time is left to sign in. */
const MIN_LEFT_MS = 2 * MINUTE_MS;
/** Maximum starts per invitation in its ten minutes. A sign-in takes one start, or two if the platform is asked first. */
const MAX_STARTS = 60;
/** Held messages expire after 55 minutes; the list of their conversations lives slightly longer. */
const WAITING_LIFE_MS = HOUR_MS;
const MAX_WAITING = 50;
const askScript = loadScript(import.meta.url, '../scripts/mint-invitation.lua', {
  constants: { MIN_LEFT_MS },
  keys: ['liveTicket', 'minted', 'waiting', 'ticket', 'link'],
  args: [
    ...(['nowMs', 'minting', 'ticketHash', 'ticketLifeMs', 'hourMs', 'maxAnHour', 'ticketPrefix', 'person'] as const),
    ...(['sealed', 'conversation', 'waitingLifeMs', 'maxWaiting', 'uselessLinkMs?', 'madeOf'] as const),
    ...(['transactionPrefix', 'quarantinePrefix'] as const),
  ],
  answer: {
    kind: ['invited', 'waiting', 'too-many', 'linked', 'full', 'spent'],
    ...{ expiresAtMs: 'number', liveHash: 'text', liveMadeOf: 'text' },
    ...{ retryAtMs: 'number', linkedAtMs: 'number', maxWaiting: 'number' },
  },
});

/**
 * An invitation, without the token itself: that is only in the link, and Redis stores its SHA-256 (SECURITY.md
 * one-live-ticket).
 */
export interface Invitation {
  hash: string;
  status: 'new' | 'started' | 'awaiting_code' | 'done' | 'abused' | 'refused';
  expiresAtMs: number;
  /** Hashes of the cookies of the browser that started it: the current cookie, and the one from before the start. */
  browser?: string;
  startedFrom?: string;
  /** The code that the browser shows while it is awaited. Only its HMAC is stored. */
  code?: { mac: string; serial: number };
  person: ChatPerson & { displayName?: string; language: Language };
}

export interface SignInRequest extends ChatPerson {
  displayName?: string;
  language: Language;
  /** The conversation whose held messages the sign-in releases; absent if none are held. */
  conversation?: ConversationRef;
  /**
   * `always`: replaces a valid invitation by a new one (`/signin`). `never`: only stores the conversation, because the link
   * cannot be shown there. By default a valid link is shown again.
   */
  mints?: 'always' | 'never';
  /**
   * Id of the requesting message. A reprocessed message gets the same link while it is valid, because the first one may not
   * have been shown. By default every request is separate.
   */
  askedBy?: string;
  /** Creation time of the link that the caller has found to be unusable. */
  uselessLinkMs?: number;
}

export type InvitationResult =
  | { kind: 'invited'; token: string; expiresAtMs: number }
  /** A link of this user is still valid. `ticket` is absent if none was to be created. */
  | { kind: 'waiting'; token: string | undefined; expiresAtMs: number }
  | InvitationRefusal;

/** Why the user was not invited. */
export type InvitationRefusal =
  | { kind: 'too-many'; retryAtMs: number }
  /** An active link was created since the caller checked. */
  | { kind: 'linked'; linkedAtMs: number }
  /** `maxWaiting` conversations of the user are already waiting. */
  | { kind: 'full'; maxWaiting: number };

export interface Invitations {
  /**
   * Creates an invitation. At most one is valid per user, and five are created per hour; linked users get none.
   * @throws IdentityError `store_away`
   */
  request(request: SignInRequest): Promise<InvitationResult>;
  /** Reads an invitation that has not expired, regardless of its status. @throws IdentityError `store_away` */
  read(ticketHash: string): Promise<Invitation | undefined>;
  /** Stores the display name of the invited user, while the invitation is valid. @throws IdentityError `store_away` */
  name(token: string, displayName: string): Promise<void>;
  /** Binds the invitation to a browser and stores its transaction. `gone`: it has ended or belongs to another browser. */
  start(options: {
    ticketHash: string;
    shownCookieHash: string;
    cookieHash: string;
    transaction: Transaction;
  }): Promise<'started' | 'gone' | 'too-often'>;
  /** Ends the invitation and deletes the browser's pending sign-in. @returns whether this call ended it */
  close(invitation: Invitation, status: 'abused' | 'refused', cookieHash: string): Promise<boolean>;
}

export function createInvitations(store: IdentityStore, keyRing: KeyRing, nowMs: NowMs): Invitations {
  const seal = (hash: string, person: Invitation['person']) =>
    keyRing.seal('link-ticket', hash, JSON.stringify(person));
  return {
    request: (request) =>
      requestInvitation({ store, seal, ticketKeys: keyRing.deriveKeys(INVITATION_PURPOSE), nowMs }, request),
    async read(ticketHash) {
      const fields = await store.withDeadline((redis) => redis.hgetall(keys.invitation(ticketHash)));
      const { status, sealed, sealedName, expiresAtMs, browser, startedFrom, codeMac, codeSerial } = fields;
      if (status === undefined || sealed === undefined || !(Number(expiresAtMs) > nowMs())) return undefined;
      const named = openPerson(keyRing, ticketHash, sealed);
      if (!named) return undefined;
      const shownName = sealedName && openName(keyRing, ticketHash, sealedName);
      const person = shownName ? { ...named, displayName: shownName } : named;
      return {
        hash: ticketHash,
        status: status as Invitation['status'],
        expiresAtMs: Number(expiresAtMs),
        person,
        browser,
        startedFrom,
        code: codeMac === undefined ? undefined : { mac: codeMac, serial: Number(codeSerial) },
      };
    },
    async name(token, displayName) {
      const ticketHash = sha256Hex(token);
      const sealedName = keyRing.seal(
        SHOWN_NAME_PURPOSE,
        ticketHash,
        [...displayName].slice(0, MAX_NAME_CHARS).join(''),
      );
      await store.run(nameScript, { ticket: keys.invitation(ticketHash) }, { sealedName });
    },
    async start({ ticketHash, shownCookieHash, cookieHash, transaction }) {
      const names = { ticket: keys.invitation(ticketHash), transaction: keys.transaction(cookieHash) };
      return store.run(startScript, names, {
        ...{ nowMs: nowMs(), shownCookieHash, cookieHash, transactionText: JSON.stringify(transaction) },
        ...{
          transactionLifeMs: TRANSACTION_LIFE_MS,
          transactionPrefix: keys.transaction(),
          quarantinePrefix: keys.quarantine(),
        },
        maxStarts: MAX_STARTS,
      });
    },
    async close(invitation, status, cookieHash) {
      const names = {
        ticket: keys.invitation(invitation.hash),
        liveTicket: keys.liveInvitation(personKey(invitation.person)),
        quarantine: keys.quarantine(cookieHash),
      };
      return store.run(closeScript, names, { status, ticketHash: invitation.hash, closing: randomToken(NAME_BYTES) });
    },
  };
}

/** An invitation that cannot be decrypted counts as unknown. */
function openPerson(keyRing: KeyRing, ticketHash: string, sealed: string): Invitation['person'] | undefined {
  const readPerson = (value: unknown) => readChatPerson(value) as Invitation['person'] | undefined;
  const opened = tryOpenJson(() => keyRing.open('link-ticket', ticketHash, sealed), readPerson);
  return opened.kind === 'opened' ? opened.value : undefined;
}

/** Undefined if it cannot be decrypted; the pages then show the id. */
function openName(keyRing: KeyRing, ticketHash: string, sealed: string): string | undefined {
  const opened = tryOpen(() => keyRing.open(SHOWN_NAME_PURPOSE, ticketHash, sealed));
  return opened.kind === 'opened' ? opened.value : undefined;
}

interface AskParts {
  store: IdentityStore;
  seal(hash: string, person: Invitation['person']): string;
  /** Keys that derive invitation tokens from request names, newest first. */
  ticketKeys: readonly [KeyObject, ...KeyObject[]];
  nowMs: NowMs;
}

async function requestInvitation(parts: AskParts, request: SignInRequest): Promise<InvitationResult> {
  const { askedBy = randomToken() } = request;
  // An ended invitation is never returned again. Each new one counts towards the hourly limit.
  for (let serial = 0, { mints } = request; ; serial += 1) {
    const asked = await requestOnce(parts, { ...request, mints }, `${serial}|${askedBy}`);
    if (asked === 'unknown') mints = 'always';
    else if (asked) return asked;
  }
}

/** The invitation token with this name and hash, under any key; undefined if none matches. */
function invitationTokenOf({ ticketKeys }: AskParts, madeOf: string, hash: string): string | undefined {
  return ticketKeys.map((key) => hmacBase64Url(key, madeOf)).find((token) => sha256Hex(token) === hash);
}

/**
 * @returns undefined if this invitation was already issued and has ended; `unknown` if a valid one exists but its token
 * cannot be derived
 */
async function requestOnce(
  parts: AskParts,
  request: SignInRequest,
  madeOf: string,
): Promise<InvitationResult | 'unknown' | undefined> {
  const { store, seal, nowMs } = parts;
  const [newestKey] = parts.ticketKeys;
  const token = hmacBase64Url(newestKey, madeOf);
  const hash = sha256Hex(token);
  const { platform, tenant, app, chatUserId, displayName, language, conversation, mints, uselessLinkMs } = request;
  const person = { platform, tenant, app, chatUserId, language, displayName };
  const key = personKey(person);
  const names = {
    ...{ liveTicket: keys.liveInvitation(key), minted: keys.minted(key), waiting: keys.waiting(key) },
    ...{ ticket: keys.invitation(hash), link: keys.link(key) },
  };
  const answer = await store.run(askScript, names, {
    nowMs: nowMs(),
    minting: mints === undefined ? 0 : mints === 'always' ? 1 : 2,
    ...{ ticketHash: hash, ticketLifeMs: INVITATION_LIFE_MS, hourMs: HOUR_MS, maxAnHour: MAX_INVITATIONS_PER_HOUR },
    ...{ person: key, sealed: seal(hash, person) },
    conversation: conversation ? conversationText(conversation) : '',
    ...{ waitingLifeMs: WAITING_LIFE_MS, maxWaiting: MAX_WAITING, uselessLinkMs, madeOf },
    ...{ ticketPrefix: keys.invitation(), transactionPrefix: keys.transaction(), quarantinePrefix: keys.quarantine() },
  });
  const { kind, expiresAtMs, liveHash, liveMadeOf, retryAtMs, linkedAtMs, maxWaiting } = answer;
  switch (kind) {
    case 'invited':
      return { kind, token, expiresAtMs };
    case 'waiting': {
      const live = liveHash === '' ? undefined : invitationTokenOf(parts, liveMadeOf, liveHash);
      return liveHash !== '' && live === undefined ? 'unknown' : { kind, token: live, expiresAtMs };
    }
    case 'too-many':
      return { kind, retryAtMs };
    case 'linked':
      return { kind, linkedAtMs };
    case 'full':
      return { kind, maxWaiting };
    case 'spent':
      return undefined;
  }
}
