import { HOUR_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { personKey } from '../account.ts';
import type { PendingSignIn } from '../invitations/pending-sign-ins.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Invitation } from '../invitations/invitations.ts';
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
/** Maximum codes per invitation, so that a sign-in cannot stay open indefinitely. */
export const MAX_CODES_PER_INVITATION = 3;
/** How long an expired code is still recognized as expired. */
const END_REMEMBERED_MS = 10 * MINUTE_MS;
/** Messages are redelivered, after a crash or by a client, within seconds. */
export const OUTCOME_LIFE_MS = HOUR_MS;

const NAME_BYTES = 12;
const NOT_AWAITED = JSON.stringify(['not-awaited', '', '']);
const SEEN_IN_GROUP = JSON.stringify(['seen-in-group', '', '']);

/** The code expected from a chat user. */
export interface AwaitedCode {
  ticketHash: string;
  mac: string;
  isExpired: boolean;
  language: Language | undefined;
}

/** The stored outcome of a message with a code. */
export interface RememberedOutcome {
  kind: string;
  more: string;
  language: Language | undefined;
}

export interface InvalidateRequest {
  code: string;
  /** Sender of the message that contains the code. */
  sender: PersonId;
  messageId: string;
  isInGroup: boolean;
}

export interface InvalidatedInvitation {
  ticketHash: string;
  /** Encrypted for the invitation. */
  sealedPerson: string;
}

export interface ShowRequest {
  invitation: Invitation;
  cookie: string;
  cookieHash: string;
  quarantined: PendingSignIn & { kind: 'waiting' };
  quarantineText: string;
  serial: number;
}

/** The codes that browsers show and users type (SECURITY.md typed-code). All methods: @throws IdentityError `store_away` */
export interface TypedCodes {
  /**
   * Starts waiting for the code with this serial, unless the invitation has ended or this or a later code is already
   * expected.
   */
  show(request: ShowRequest): Promise<void>;
  /** The code that the browser of an invitation shows; undefined if its key was removed from the ring. */
  codeOf(invitation: Invitation, cookie: string): string | undefined;
  awaitedFrom(person: PersonId): Promise<AwaitedCode | undefined>;
  outcomeOf(person: PersonId, messageId: string): Promise<RememberedOutcome | undefined>;
  /** Whether this code created this user's link, so that typing it twice gets the same answer. */
  hasLinked(person: PersonId, code: string): Promise<boolean>;
  rememberSeenInGroup(person: PersonId, messageId: string): Promise<void>;
  /** Ends the invitation of a code. @returns the invitation, if this call ended it */
  invalidate(request: InvalidateRequest): Promise<InvalidatedInvitation | undefined>;
}

export function createTypedCodes(store: IdentityStore, keyRing: KeyRing, nowMs: NowMs): TypedCodes {
  return {
    async show({ invitation, cookie, cookieHash, quarantined: pending, quarantineText, serial }) {
      const { hash: ticketHash, person } = invitation;
      const codeMac = macOfCode(keyRing, makeCode(keyRing, { cookie, ticketHash, serial }));
      const expiresAtMs = nowMs() + CODE_LIFE_MS;
      const longer: PendingSignIn = { ...pending, expiresAtMs };
      const names = {
        ticket: keys.invitation(ticketHash),
        quarantine: keys.quarantine(cookieHash),
        liveTicket: keys.liveInvitation(personKey(person)),
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
      const ticketHash = await store.withDeadline((redis) => redis.get(keys.liveInvitation(person)));
      if (ticketHash === null) return undefined;
      const fields = ['status', 'expiresAtMs', 'codeMac', 'language'];
      const [status, expiresAtMs, mac, language] = await store.withDeadline((redis) =>
        redis.hmget(keys.invitation(ticketHash), ...fields),
      );
      if (status !== 'awaiting_code' || !mac) return undefined;
      return { ticketHash, mac, isExpired: !(Number(expiresAtMs) > nowMs()), language: languageFrom(language) };
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
      const [status, owner, its] = await store.withDeadline((redis) =>
        redis.hmget(keys.invitation(ticketHash), ...fields),
      );
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
): Promise<InvalidatedInvitation | undefined> {
  const outcome = isInGroup ? SEEN_IN_GROUP : NOT_AWAITED;
  const spoiled = await store.run(
    spoilScript,
    { code: keys.code(codeMac), outcomes: keys.typed(sender) },
    {
      ...{ codeMac, ticketPrefix: keys.invitation(), quarantinePrefix: keys.quarantine() },
      ...{ liveTicketPrefix: keys.liveInvitation(), messageId, outcome, outcomeLifeMs: OUTCOME_LIFE_MS },
      spoiling: randomToken(NAME_BYTES),
    },
  );
  return spoiled.ticketHash === '' ? undefined : spoiled;
}

function languageFrom(text: string | null | undefined): Language | undefined {
  return text === 'en' || text === 'zh' ? text : undefined;
}
