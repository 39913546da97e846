import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { CodedError } from '../../shared/coded-error.ts';
import { recordWith, tryOpenJson, type Opened } from '../../shared/crypto/decrypt-record.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { AnswerTarget, WaitingMessage } from '../domain/turn.ts';
import { asDeliveryId, type DeliveryId, type PersonId } from '../domain/ids.ts';

/** Thrown for an entry that this version cannot read; it stays where it is (SECURITY.md versioned-payloads). */
export class EntryError extends CodedError<'entry_unknown_version' | 'entry_unreadable'> {}

/** Thrown for a turn that another key sealed; it stays where it is, unclaimed, for a worker that has the key. */
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
/** Written by accept.lua: delivery id, merge key, accepted at (ms, by Redis' clock), sequence, sealed message. */
const ENTRY = /^([0-9a-f]+):([^:]+):(\d+):(\d+):(.*)$/s;

export function sealMessage(keyRing: KeyRing, deliveryId: DeliveryId, message: InboundMessage): string {
  return keyRing.seal(PURPOSE, deliveryId, JSON.stringify(message));
}

/** Reads one inbox entry. @throws EntryError */
export function openEntry(keyRing: KeyRing, entry: string): Opened<WaitingMessage> {
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

/** What another version's message must hold is not known here. */
function readMessage(value: unknown): InboundMessage | undefined {
  const message = recordWith<InboundMessage>()(value);
  if (typeof message?.version !== 'number') return undefined;
  const isWhole = [message.chat, message.sender, message.parts].every((part) => typeof part === 'object');
  return isWhole || (message.version as number) !== KNOWN_VERSION ? message : undefined;
}

/** Seals where the answer goes, apart from the message; empty where the platform polls. */
export function sealTarget(
  keyRing: KeyRing,
  deliveryId: DeliveryId,
  { platform, tenant, replyTarget }: InboundMessage,
): string {
  if (replyTarget === undefined) return '';
  const target: AnswerTarget = { platform, tenant, replyTarget };
  return keyRing.seal(TARGET_PURPOSE, deliveryId, JSON.stringify(target));
}

/** Opens what `sealTarget` made; undefined for none, and for one that is broken or lacks its key: then nothing can be said there. */
export function openTarget(keyRing: KeyRing, deliveryId: DeliveryId, sealed: string): AnswerTarget | undefined {
  if (sealed === '') return undefined;
  const readTarget = recordWith<AnswerTarget>('platform', 'replyTarget');
  const opened = tryOpenJson(() => keyRing.open(TARGET_PURPOSE, deliveryId, sealed), readTarget);
  return opened.kind === 'opened' ? opened.value : undefined;
}

/** The delivery id of an entry, which is readable without a key. */
export function deliveryIdOfEntry(entry: string): DeliveryId {
  return asDeliveryId(entry.slice(0, entry.indexOf(':')));
}

/** The merge key of a message that is a turn of its own. */
export const NEVER_MERGED = '-';

/**
 * Consecutive messages with the same merge key make one turn: one person's plain text and images, of one version, so that
 * a message never waits for a newer worker only because the next one does (SECURITY.md versioned-payloads).
 */
export function mergeKeyOf(message: InboundMessage, personId: PersonId): string {
  const isPlain = message.parts.every((part) => part.type === 'text' || part.type === 'image');
  return isPlain && !message.slash ? `${KNOWN_VERSION}.${personId}` : NEVER_MERGED;
}
