import { HOUR_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { personKey } from '../account.ts';
import type { PendingSignIn } from '../invitations/pending-sign-ins.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Ticket } from '../invitations/invitations.ts';
import { macOfCode, macsOfCode, makeCode, makeCodes } from './make-code.ts';
import type { PersonId } from '../../domain/ids.ts';

const showScript = loadScript(import.meta.url, '../scripts/show-code.lua', {
  keys: ['ticket', 'quarantine', 'liveTicket', 'code'],
  args: [
    ...(['nowMs', 'cookieHash', 'ticketHash', 'quarantineRead', 'newQuarantine'] as const),
    ...(['codeMac', 'serial', 'expiresAtMs', 'lifeMs', 'rememberedMs', 'language'] as const),
  ],
  answer: 'flag',
});
const rememberScript = loadScript(import.meta.url, '../scripts/remember-outcome.lua', {
  keys: ['outcomes'],
  args: ['messageId', 'outcome', 'lifeMs'],
});
const spoilScript = loadScript(import.meta.url, '../scripts/invalidate-code.lua', {
  keys: ['code', 'outcomes'],
  args: [
    ...(['codeMac', 'ticketPrefix', 'quarantinePrefix', 'liveTicketPrefix'] as const),
    ...(['messageId', 'outcome', 'outcomeLifeMs', 'spoiling'] as const),
  ],
  answer: { ticketHash: 'text', sealedPerson: 'text' },
});

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
  sender: PersonId;
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
  awaitedFrom(person: PersonId): Promise<AwaitedCode | undefined>;
  outcomeOf(person: PersonId, messageId: string): Promise<RememberedOutcome | undefined>;
  /** Whether this code has made this person's link: typed twice, it is answered twice. */
  hasLinked(person: PersonId, code: string): Promise<boolean>;
  rememberSeenInGroup(person: PersonId, messageId: string): Promise<void>;
  /** Ends the ticket that a code belongs to. @returns that ticket, if it ended now */
  invalidate(request: InvalidateRequest): Promise<InvalidatedTicket | undefined>;
}

export function createTypedCodes(store: IdentityStore, keyRing: KeyRing, nowMs: NowMs): TypedCodes {
  return {
    async show({ ticket, cookie, cookieHash, quarantined: pending, quarantineText, serial }) {
      const { hash: ticketHash, person } = ticket;
      const codeMac = macOfCode(keyRing, makeCode(keyRing, { cookie, ticketHash, serial }));
      const expiresAtMs = nowMs() + CODE_LIFE_MS;
      const longer: PendingSignIn = { ...pending, expiresAtMs };
      const names = {
        ticket: keys.ticket(ticketHash),
        quarantine: keys.quarantine(cookieHash),
        liveTicket: keys.liveTicket(personKey(person)),
        code: keys.code(codeMac),
      };
      await store.run(showScript, names, {
        ...{ nowMs: nowMs(), cookieHash, ticketHash, quarantineRead: quarantineText },
        ...{ newQuarantine: JSON.stringify(longer), codeMac, serial, expiresAtMs, lifeMs: CODE_LIFE_MS },
        ...{ rememberedMs: END_REMEMBERED_MS, language: person.language },
      });
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
      const args = { messageId, outcome: SEEN_IN_GROUP, lifeMs: OUTCOME_LIFE_MS };
      await store.run(rememberScript, { outcomes: keys.typed(person) }, args);
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
  codeMac: string,
  { sender, messageId, isInGroup }: InvalidateRequest,
): Promise<InvalidatedTicket | undefined> {
  const outcome = isInGroup ? SEEN_IN_GROUP : NOT_AWAITED;
  const spoiled = await store.run(
    spoilScript,
    { code: keys.code(codeMac), outcomes: keys.typed(sender) },
    {
      ...{ codeMac, ticketPrefix: keys.ticket(), quarantinePrefix: keys.quarantine() },
      ...{ liveTicketPrefix: keys.liveTicket(), messageId, outcome, outcomeLifeMs: OUTCOME_LIFE_MS },
      spoiling: randomToken(NAME_BYTES),
    },
  );
  return spoiled.ticketHash === '' ? undefined : spoiled;
}

function languageFrom(text: string | null | undefined): Language | undefined {
  return text === 'en' || text === 'zh' ? text : undefined;
}
