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
    ...(['transactionPrefix', 'quarantinePrefix', 'mostStarts'] as const),
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
/** Pages show fewer characters. */
const MAX_NAME_CHARS = 128;
const TICKET_PURPOSE = 'link-ticket-name';
const NAME_BYTES = 12;
const TICKET_LIFE_MS = 10 * MINUTE_MS;
const MAX_TICKETS_PER_HOUR = 5;
/** A link that is shown once more must leave the time for a sign-in. */
const LEAST_LEFT_MS = 2 * MINUTE_MS;
/** Of one ticket, in its ten minutes. A whole sign-in takes one start, or two where the platform is asked first. */
const MAX_STARTS = 60;
/** Held messages live 55 minutes; the list of their conversations lives a little longer. */
const WAITING_LIFE_MS = HOUR_MS;
const MAX_WAITING = 50;
const askScript = loadScript(import.meta.url, '../scripts/mint-invitation.lua', {
  constants: { LEAST_LEFT_MS },
  keys: ['liveTicket', 'minted', 'waiting', 'ticket', 'link'],
  args: [
    ...(['nowMs', 'minting', 'ticketHash', 'ticketLifeMs', 'hourMs', 'mostAnHour', 'ticketPrefix', 'person'] as const),
    ...(['sealed', 'conversation', 'waitingLifeMs', 'mostWaiting', 'uselessLinkMs?', 'madeOf'] as const),
    ...(['transactionPrefix', 'quarantinePrefix'] as const),
  ],
  answer: {
    kind: ['invited', 'waiting', 'too-many', 'linked', 'full', 'spent'],
    ...{ expiresAtMs: 'number', liveHash: 'text', liveMadeOf: 'text' },
    ...{ retryAtMs: 'number', linkedAtMs: 'number', most: 'number' },
  },
});

/** A link ticket as the pages see it. The ticket itself is only in the link; Redis knows its SHA-256 (SECURITY.md one-live-ticket). */
export interface Ticket {
  hash: string;
  status: 'new' | 'started' | 'awaiting_code' | 'done' | 'abused' | 'refused';
  expiresAtMs: number;
  /** Hashes of the cookies of the one browser that started it: held now, and shown at the start. */
  browser?: string;
  startedFrom?: string;
  /** The code that the browser shows while the ticket awaits it; we keep its HMAC. */
  code?: { mac: string; serial: number };
  person: ChatPerson & { displayName?: string; language: Language };
}

export interface SignInRequest extends ChatPerson {
  displayName?: string;
  language: Language;
  /** The conversation whose held messages the link shall free; absent where nothing is to be held. */
  conversation?: ConversationRef;
  /**
   * `always`: kills the ticket that lives and mints a new one (`/signin`). `never`: only the conversation is remembered, where the
   * link could be shown to nobody. Unless told, a link that is still of use is shown once more.
   */
  mints?: 'always' | 'never';
  /**
   * The message that asks. Handled again it gets the same link, while that one lives: the first time it may not have been
   * shown, or this is the first time, executed late. Every asking is one of its own unless told.
   */
  askedBy?: string;
  /** When the link was made that the caller has just found to be of no use. */
  uselessLinkMs?: number;
}

export type Asked =
  | { kind: 'invited'; ticket: string; expiresAtMs: number }
  /** A link of this person is still of use: its ticket, or nothing where none was to be minted. */
  | { kind: 'waiting'; ticket: string | undefined; expiresAtMs: number }
  | NotAsked;

/** Why nobody was asked to sign in. */
export type NotAsked =
  | { kind: 'too-many'; retryAtMs: number }
  /** An active link is there, made since the caller looked. */
  | { kind: 'linked'; linkedAtMs: number }
  /** So many conversations of the person wait already. */
  | { kind: 'full'; most: number };

export interface Tickets {
  /** One live ticket a person, five an hour; none for who is linked. @throws IdentityError `store_away` */
  ask(request: SignInRequest): Promise<Asked>;
  /** A ticket that has not expired, whatever its status. @throws IdentityError `store_away` */
  read(ticketHash: string): Promise<Ticket | undefined>;
  /** Notes how the platform shows the ticket's person, while the ticket lives. @throws IdentityError `store_away` */
  name(ticket: string, displayName: string): Promise<void>;
  /** Binds the ticket to a browser and stores its transaction. `gone`: it is another browser's, or over */
  start(options: {
    ticketHash: string;
    shownCookieHash: string;
    cookieHash: string;
    transaction: Transaction;
  }): Promise<'started' | 'gone' | 'too-often'>;
  /** Ends the ticket and drops the browser's quarantine. @returns whether this call ended it */
  close(ticket: Ticket, status: 'abused' | 'refused', cookieHash: string): Promise<boolean>;
}

export function createTickets(store: IdentityStore, keyRing: KeyRing, nowMs: NowMs): Tickets {
  const seal = (hash: string, person: Ticket['person']) => keyRing.seal('link-ticket', hash, JSON.stringify(person));
  return {
    ask: (request) => askForTicket({ store, seal, ticketKeys: keyRing.deriveKeys(TICKET_PURPOSE), nowMs }, request),
    async read(ticketHash) {
      const fields = await store.withDeadline((redis) => redis.hgetall(keys.ticket(ticketHash)));
      const { status, sealed, sealedName, expiresAtMs, browser, startedFrom, codeMac, codeSerial } = fields;
      if (status === undefined || sealed === undefined || !(Number(expiresAtMs) > nowMs())) return undefined;
      const named = openPerson(keyRing, ticketHash, sealed);
      if (!named) return undefined;
      const shownName = sealedName && openName(keyRing, ticketHash, sealedName);
      const person = shownName ? { ...named, displayName: shownName } : named;
      return {
        hash: ticketHash,
        status: status as Ticket['status'],
        expiresAtMs: Number(expiresAtMs),
        person,
        browser,
        startedFrom,
        code: codeMac === undefined ? undefined : { mac: codeMac, serial: Number(codeSerial) },
      };
    },
    async name(ticket, displayName) {
      const ticketHash = sha256Hex(ticket);
      const sealedName = keyRing.seal(
        SHOWN_NAME_PURPOSE,
        ticketHash,
        [...displayName].slice(0, MAX_NAME_CHARS).join(''),
      );
      await store.run(nameScript, { ticket: keys.ticket(ticketHash) }, { sealedName });
    },
    async start({ ticketHash, shownCookieHash, cookieHash, transaction }) {
      const names = { ticket: keys.ticket(ticketHash), transaction: keys.transaction(cookieHash) };
      return store.run(startScript, names, {
        ...{ nowMs: nowMs(), shownCookieHash, cookieHash, transactionText: JSON.stringify(transaction) },
        ...{
          transactionLifeMs: TRANSACTION_LIFE_MS,
          transactionPrefix: keys.transaction(),
          quarantinePrefix: keys.quarantine(),
        },
        mostStarts: MAX_STARTS,
      });
    },
    async close(ticket, status, cookieHash) {
      const names = {
        ticket: keys.ticket(ticket.hash),
        liveTicket: keys.liveTicket(personKey(ticket.person)),
        quarantine: keys.quarantine(cookieHash),
      };
      return store.run(closeScript, names, { status, ticketHash: ticket.hash, closing: randomToken(NAME_BYTES) });
    },
  };
}

/** A ticket that is broken or lacks its key is an unknown one. */
function openPerson(keyRing: KeyRing, ticketHash: string, sealed: string): Ticket['person'] | undefined {
  const readPerson = (value: unknown) => readChatPerson(value) as Ticket['person'] | undefined;
  const opened = tryOpenJson(() => keyRing.open('link-ticket', ticketHash, sealed), readPerson);
  return opened.kind === 'opened' ? opened.value : undefined;
}

/** Broken or without its key, a name is left out: the pages say the id. */
function openName(keyRing: KeyRing, ticketHash: string, sealed: string): string | undefined {
  const opened = tryOpen(() => keyRing.open(SHOWN_NAME_PURPOSE, ticketHash, sealed));
  return opened.kind === 'opened' ? opened.value : undefined;
}

interface AskParts {
  store: IdentityStore;
  seal(hash: string, person: Ticket['person']): string;
  /** Make tickets out of the names of askings, the newest first. */
  ticketKeys: readonly Buffer[];
  nowMs: NowMs;
}

async function askForTicket(parts: AskParts, request: SignInRequest): Promise<Asked> {
  const { askedBy = randomToken() } = request;
  // A ticket that is over is never given again; each further one counts among those of the hour.
  for (let serial = 0, { mints } = request; ; serial += 1) {
    const asked = await askOnce(parts, { ...request, mints }, `${serial}|${askedBy}`);
    if (asked === 'unknown') mints = 'always';
    else if (asked) return asked;
  }
}

/** The ticket made of this, by whichever key; undefined when it is another one's. */
function ticketOf({ ticketKeys }: AskParts, madeOf: string, hash: string): string | undefined {
  return ticketKeys.map((key) => hmacBase64Url(key, madeOf)).find((ticket) => sha256Hex(ticket) === hash);
}

/** @returns undefined when this ticket was given before, and is over; `unknown` when one lives that cannot be told any more */
async function askOnce(
  parts: AskParts,
  request: SignInRequest,
  madeOf: string,
): Promise<Asked | 'unknown' | undefined> {
  const { store, seal, ticketKeys, nowMs } = parts;
  const ticket = hmacBase64Url(ticketKeys[0] ?? Buffer.alloc(0), madeOf);
  const hash = sha256Hex(ticket);
  const { platform, tenant, app, chatUserId, displayName, language, conversation, mints, uselessLinkMs } = request;
  const person = { platform, tenant, app, chatUserId, language, displayName };
  const key = personKey(person);
  const names = {
    ...{ liveTicket: keys.liveTicket(key), minted: keys.minted(key), waiting: keys.waiting(key) },
    ...{ ticket: keys.ticket(hash), link: keys.link(key) },
  };
  const answer = await store.run(askScript, names, {
    nowMs: nowMs(),
    minting: mints === undefined ? 0 : mints === 'always' ? 1 : 2,
    ...{ ticketHash: hash, ticketLifeMs: TICKET_LIFE_MS, hourMs: HOUR_MS, mostAnHour: MAX_TICKETS_PER_HOUR },
    ...{ person: key, sealed: seal(hash, person) },
    conversation: conversation ? conversationText(conversation) : '',
    ...{ waitingLifeMs: WAITING_LIFE_MS, mostWaiting: MAX_WAITING, uselessLinkMs, madeOf },
    ...{ ticketPrefix: keys.ticket(), transactionPrefix: keys.transaction(), quarantinePrefix: keys.quarantine() },
  });
  const { kind, expiresAtMs, liveHash, liveMadeOf, retryAtMs, linkedAtMs, most } = answer;
  switch (kind) {
    case 'invited':
      return { kind, ticket, expiresAtMs };
    case 'waiting': {
      const live = liveHash === '' ? undefined : ticketOf(parts, liveMadeOf, liveHash);
      return liveHash !== '' && live === undefined ? 'unknown' : { kind, ticket: live, expiresAtMs };
    }
    case 'too-many':
      return { kind, retryAtMs };
    case 'linked':
      return { kind, linkedAtMs };
    case 'full':
      return { kind, most };
    case 'spent':
      return undefined;
  }
}
