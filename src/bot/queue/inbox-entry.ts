import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { CodedError } from '../../shared/coded-error.ts';
import { recordWith, tryOpenJson, type OpenResult } from '../../shared/crypto/decrypt-record.ts';
import { loadLibrary } from '../../shared/redis/lua-script.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { AnswerTarget, WaitingMessage } from '../domain/turn.ts';
import { asDeliveryId, type DeliveryId, type PersonId } from '../domain/ids.ts';

/** Thrown for an entry that this version cannot read. The entry stays in the inbox (SECURITY.md versioned-payloads). */
export class EntryError extends CodedError<'entry_unknown_version' | 'entry_unreadable'> {}

/**
 * Thrown for a turn encrypted with a key that this process does not have. The turn stays unclaimed for a worker that has the
 * key.
 */
export class MissingKeyError extends CodedError<'key_missing'> {
  readonly keyId: string;

  constructor(keyId: string) {
    super('key_missing', `A message waits for key ${keyId}`);
    this.keyId = keyId;
  }
}

const PURPOSE = 'message';
const TARGET_PURPOSE = 'target';
const KNOWN_VERSION = 1;
/** docs/reference/REDIS_KEYS.md describes the format; scripts read and write it with `INBOX_ENTRY`. */
const ENTRY = /^([0-9a-f]+):([^:]+):(\d+):(\d+):(.*)$/s;

/** `readEntry`, `writeEntry` and `sealedOf` for scripts. */
export const INBOX_ENTRY = loadLibrary(import.meta.url, './scripts/library/inbox-entry.lua');

/** `lackedKeyOf` for scripts that have `INBOX_ENTRY`. */
export const LACKED_KEY = loadLibrary(import.meta.url, './scripts/library/lacked-key.lua');

export function sealMessage(keyRing: KeyRing, deliveryId: DeliveryId, message: InboundMessage): string {
  return keyRing.seal(PURPOSE, deliveryId, JSON.stringify(message));
}

/** Reads one inbox entry. @throws EntryError */
export function openEntry(keyRing: KeyRing, entry: string): OpenResult<WaitingMessage> {
  const match = ENTRY.exec(entry);
  if (!match) throw new EntryError('entry_unreadable', 'An inbox entry has an unknown form');
  const [, deliveryId, , acceptedAtMs, seq, sealed] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const opened = tryOpenJson(() => keyRing.open(PURPOSE, deliveryId, sealed), readMessage);
  if (opened.kind !== 'opened') return opened;
  const message = opened.value;
  if ((message.version as number) !== KNOWN_VERSION) {
    throw new EntryError(
      'entry_unknown_version',
      `A message of version ${String(message.version)} waits for a newer worker`,
    );
  }
  return {
    kind: 'opened',
    value: { deliveryId: asDeliveryId(deliveryId), acceptedAtMs: Number(acceptedAtMs), seq: Number(seq), message },
  };
}

/** The fields of another version's message are unknown, so only its version is checked. */
function readMessage(value: unknown): InboundMessage | undefined {
  const message = recordWith<InboundMessage>()(value);
  if (typeof message?.version !== 'number') return undefined;
  const isWhole = [message.chat, message.sender, message.parts].every((part) => typeof part === 'object');
  return isWhole || (message.version as number) !== KNOWN_VERSION ? message : undefined;
}

/** Encrypts the reply target separately from the message. Empty where the platform polls. */
export function sealTarget(
  keyRing: KeyRing,
  deliveryId: DeliveryId,
  { platform, tenant, replyTarget }: InboundMessage,
): string {
  if (replyTarget === undefined) return '';
  const target: AnswerTarget = { platform, tenant, replyTarget };
  return keyRing.seal(TARGET_PURPOSE, deliveryId, JSON.stringify(target));
}

/**
 * Decrypts the output of `sealTarget`. Undefined if there is none, if it is corrupt or if its key is missing; no apology can
 * be sent then.
 */
export function openTarget(keyRing: KeyRing, deliveryId: DeliveryId, sealed: string): AnswerTarget | undefined {
  if (sealed === '') return undefined;
  const readTarget = recordWith<AnswerTarget>('platform', 'replyTarget');
  const opened = tryOpenJson(() => keyRing.open(TARGET_PURPOSE, deliveryId, sealed), readTarget);
  return opened.kind === 'opened' ? opened.value : undefined;
}

/** The merge key of an entry, readable without a key. */
export function mergeKeyOfEntry(entry: string): string {
  return ENTRY.exec(entry)?.[2] ?? NEVER_MERGED;
}

/** The delivery id of an entry, readable without a key. */
export function deliveryIdOfEntry(entry: string): DeliveryId {
  return asDeliveryId(entry.slice(0, entry.indexOf(':')));
}

/** Merge key of a message that forms a separate turn. */
export const NEVER_MERGED = '-';

/**
 * Consecutive messages with the same merge key form one turn: plain text and images of one person and one version, so that a
 * message never waits for a newer worker because of the message after it (SECURITY.md versioned-payloads).
 */
export function mergeKeyOf(message: InboundMessage, personId: PersonId): string {
  const isPlain = message.parts.every((part) => part.type === 'text' || part.type === 'image');
  return isPlain && !message.slash ? `${KNOWN_VERSION}.${personId}` : NEVER_MERGED;
}
