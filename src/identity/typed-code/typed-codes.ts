import { HOUR_MS, MINUTE_MS, type NowMs } from '../../base/clock.ts';
import { randomToken } from '../../base/ids.ts';
import type { KeyRing } from '../../base/key-ring.ts';
import { loadScript } from '../../base/lua-script.ts';
import type { Language } from '../../base/texts.ts';
import { personKey } from '../account.ts';
import type { PendingSignIn } from '../tickets/pending-sign-ins.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Ticket } from '../tickets/tickets.ts';
import { macOfCode, macsOfCode, makeCode, makeCodes } from './make-code.ts';

const showScript = loadScript(import.meta.url, '../scripts/show-code.lua');
const rememberScript = loadScript(import.meta.url, '../scripts/remember-outcome.lua');
const spoilScript = loadScript(import.meta.url, '../scripts/invalidate-code.lua');

/** SECURITY.md typed-code. Milliseconds. */
export const CODE_LIFE_MS = 5 * MINUTE_MS;
/** Codes that one ticket may show, one after the other: a sign-in does not wait without end. */
export const MOST_CODES_OF_A_TICKET = 3;
/** A code that is typed too late is told so for this long. */
const END_REMEMBERED_MS = 10 * MINUTE_MS;
/** A message is repeated, after a crash or by a client, within seconds. */
export const OUTCOME_LIFE_MS = HOUR_MS;

const NAME_BYTES = 12;
const NOT_AWAITED = JSON.stringify(['not-awaited', '', '']);
const SEEN_IN_GROUP = JSON.stringify(['seen-in-group', '', '']);

/** What a chat person is awaited with. */
export interface AwaitedCode {
  ticketHash: string;
  mac: string;
  isOver: boolean;
  language: Language | undefined;
}

/** What became of a message with a code, as the scripts remember it. */
export interface RememberedOutcome {
  kind: string;
  more: string;
  language: Language | undefined;
}

export interface InvalidateRequest {
  code: string;
  /** Who sent the message that holds it. */
  sender: string;
  messageId: string;
  isInGroup: boolean;
}

export interface InvalidatedTicket {
  ticketHash: string;
  /** Opens as the ticket's. */
  sealedPerson: string;
}

export interface ShowRequest {
  ticket: Ticket;
  cookie: string;
  cookieHash: string;
  quarantined: PendingSignIn & { kind: 'waiting' };
  quarantineText: string;
  serial: number;
}

/** The codes that browsers show and people type (SECURITY.md typed-code). All methods: @throws IdentityError `store_away` */
export interface TypedCodes {
  /** Awaits the code of this serial, unless the ticket is over or this or a later code is awaited by now. */
  show(request: ShowRequest): Promise<void>;
  /** The code of a ticket as its browser sees it; undefined when its key has left the ring since it was shown. */
  codeOf(ticket: Ticket, cookie: string): string | undefined;
  awaitedFrom(person: string): Promise<AwaitedCode | undefined>;
  outcomeOf(person: string, messageId: string): Promise<RememberedOutcome | undefined>;
  /** Whether this code has made this person's link: typed twice, it is answered twice. */
  hasLinked(person: string, code: string): Promise<boolean>;
  rememberSeenInGroup(person: string, messageId: string): Promise<void>;
  /** Ends the ticket that a code belongs to. @returns that ticket, if it ended now */
  invalidate(request: InvalidateRequest): Promise<InvalidatedTicket | undefined>;
}

export function createTypedCodes(store: IdentityStore, keyRing: KeyRing, nowMs: NowMs): TypedCodes {
  return {
    async show({ ticket, cookie, cookieHash, quarantined: pending, quarantineText, serial }) {
      const mac = macOfCode(keyRing, makeCode(keyRing, { cookie, ticketHash: ticket.hash, serial }));
      const expiresAtMs = nowMs() + CODE_LIFE_MS;
      const person = personKey(ticket.person);
      const names = [keys.ticket(ticket.hash), keys.quarantine(cookieHash), keys.liveTicket(person), keys.code(mac)];
      const longer: PendingSignIn = { ...pending, expiresAtMs };
      const texts = [quarantineText, JSON.stringify(longer)];
      const code = [mac, serial, expiresAtMs, CODE_LIFE_MS, END_REMEMBERED_MS, ticket.person.language];
      const args = [nowMs(), cookieHash, ticket.hash, ...texts, ...code];
      await store.run(showScript, names, args);
    },
    codeOf({ hash, code }, cookie) {
      if (!code) return undefined;
      const made = makeCodes(keyRing, { cookie, ticketHash: hash, serial: code.serial });
      return made.find((one) => macsOfCode(keyRing, one).includes(code.mac));
    },
    async awaitedFrom(person) {
      const ticketHash = await store.withDeadline((redis) => redis.get(keys.liveTicket(person)));
      if (ticketHash === null) return undefined;
      const fields = ['status', 'expiresAtMs', 'codeMac', 'language'];
      const [status, expiresAtMs, mac, language] = await store.withDeadline((redis) =>
        redis.hmget(keys.ticket(ticketHash), ...fields),
      );
      if (status !== 'awaiting_code' || !mac) return undefined;
      return { ticketHash, mac, isOver: !(Number(expiresAtMs) > nowMs()), language: languageFrom(language) };
    },
    async outcomeOf(person, messageId) {
      const text = await store.withDeadline((redis) => redis.hget(keys.typed(person), messageId));
      if (text === null) return undefined;
      const [kind = '', more = '', language] = JSON.parse(text) as string[];
      return { kind, more, language: languageFrom(language) };
    },
    async hasLinked(person, code) {
      const macs = macsOfCode(keyRing, code);
      const found = await Promise.all(macs.map((mac) => store.withDeadline((redis) => redis.get(keys.code(mac)))));
      const at = found.findIndex((hash) => hash !== null);
      const ticketHash = found[at];
      if (typeof ticketHash !== 'string') return false;
      const fields = ['status', 'person', 'codeMac'];
      const [status, owner, its] = await store.withDeadline((redis) => redis.hmget(keys.ticket(ticketHash), ...fields));
      return status === 'done' && owner === person && its === macs[at];
    },
    async rememberSeenInGroup(person, messageId) {
      await store.run(rememberScript, [keys.typed(person)], [messageId, SEEN_IN_GROUP, OUTCOME_LIFE_MS]);
    },
    async invalidate(request) {
      for (const mac of macsOfCode(keyRing, request.code)) {
        const spoiled = await invalidateByMac(store, mac, request);
        if (spoiled) return spoiled;
      }
      return undefined;
    },
  };
}

async function invalidateByMac(
  store: IdentityStore,
  mac: string,
  { sender, messageId, isInGroup }: InvalidateRequest,
): Promise<InvalidatedTicket | undefined> {
  const outcome = isInGroup ? SEEN_IN_GROUP : NOT_AWAITED;
  const prefixes = [keys.ticket(), keys.quarantine(), keys.liveTicket()];
  const args = [mac, ...prefixes, messageId, outcome, OUTCOME_LIFE_MS, randomToken(NAME_BYTES)];
  const reply = await store.run(spoilScript, [keys.code(mac), keys.typed(sender)], args);
  const [ticketHash, sealedPerson] = reply as string[];
  return ticketHash === undefined || sealedPerson === undefined ? undefined : { ticketHash, sealedPerson };
}

function languageFrom(text: string | null | undefined): Language | undefined {
  return text === 'en' || text === 'zh' ? text : undefined;
}
