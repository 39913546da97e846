import type { KeyRing } from '../base/key-ring.ts';
import { CodedError } from '../base/coded-error.ts';
import type { InboundMessage } from '../platforms/platform.ts';

/** One accepted message as a worker gets it. */
export interface WaitingMessage {
  deliveryId: string;
  /** When it was accepted, or released after a sign-in; its age decides whether an answer would still be expected. */
  acceptedAtMs: number;
  /** Its place in the conversation's history of acceptance, for the stop mark. */
  seq: number;
  message: InboundMessage;
}

/** Thrown for an entry that this version or this key ring cannot read; it stays where it is (security.md 4.11). */
export class EntryError extends CodedError<'entry_unknown_version' | 'entry_unreadable'> {}

const PURPOSE = 'message';
const KNOWN_VERSION = 1;
/** Written by accept.lua: delivery id, merge key, accepted at (ms, by Redis' clock), sequence, sealed message. */
const ENTRY = /^([0-9a-f]+):([^:]+):(\d+):(\d+):(.*)$/s;

export function sealMessage(keyRing: KeyRing, deliveryId: string, message: InboundMessage): string {
  return keyRing.seal(PURPOSE, deliveryId, JSON.stringify(message));
}

/** Reads one inbox entry. @throws EntryError, SealError */
export function openEntry(keyRing: KeyRing, entry: string): WaitingMessage {
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
  const message = JSON.parse(keyRing.open(PURPOSE, deliveryId, sealed)) as InboundMessage;
  if ((message.version as number) !== KNOWN_VERSION) {
    throw new EntryError(
      'entry_unknown_version',
      `A message of version ${String(message.version)} waits for a newer worker`,
    );
  }
  return { deliveryId, acceptedAtMs: Number(acceptedAtMs), seq: Number(seq), message };
}

/** The delivery id of an entry, which is readable without a key. */
export function deliveryIdOfEntry(entry: string): string {
  return entry.slice(0, entry.indexOf(':'));
}

/** The merge key of a message that is a turn of its own. */
export const NEVER_MERGED = '-';

/**
 * Consecutive messages with the same merge key make one turn: one person's plain text and images, of one version, so that
 * a message never waits for a newer worker only because the next one does (security.md 4.11).
 */
export function mergeKeyOf(message: InboundMessage, personId: string): string {
  const isPlain = message.parts.every((part) => part.type === 'text' || part.type === 'image');
  return isPlain && !message.slash ? `${KNOWN_VERSION}.${personId}` : NEVER_MERGED;
}
