import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';
import { deliveryIdOfEntry, EntryError, openEntry } from './inbox-entry.ts';
import { type WaitingMessage } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';

const ANSWER_PURPOSE = 'answer';

/** Encrypts a turn's full answer. */
export function sealAnswer(keyRing: KeyRing, turnId: DeliveryId, answer: string): string {
  return keyRing.seal(ANSWER_PURPOSE, turnId, answer);
}

/**
 * Decrypts a turn's stored answer. A corrupt answer or a missing key counts as no answer: the question can be answered
 * again.
 */
export function openAnswer(keyRing: KeyRing, turnId: DeliveryId, sealed: string): string | undefined {
  if (sealed === '') return undefined;
  const opened = tryOpen(() => keyRing.open(ANSWER_PURPOSE, turnId, sealed));
  return opened.kind === 'opened' ? opened.value : undefined;
}

/**
 * Decrypts a turn's messages. `unreadable` lists the corrupt ones and those whose key is missing; the claim leaves the
 * latter in place as long as a worker may have the key.
 * @throws EntryError for a message that only a newer worker can read
 */
export function readEntries(
  keyRing: KeyRing,
  entries: string[],
): { messages: WaitingMessage[]; unreadable: DeliveryId[] } {
  const messages: WaitingMessage[] = [];
  const unreadable: DeliveryId[] = [];
  for (const entry of entries) {
    const opened = openEntry(keyRing, entry);
    if (opened.kind === 'opened') messages.push(opened.value);
    else unreadable.push(deliveryIdOfEntry(entry));
  }
  return { messages, unreadable };
}

/** Decrypts the readable entries. The others (corrupt, missing key, newer version) wait for their own turn. */
export function readableOf(keyRing: KeyRing, entries: string[]): WaitingMessage[] {
  return entries.flatMap((entry) => {
    try {
      const opened = openEntry(keyRing, entry);
      return opened.kind === 'opened' ? [opened.value] : [];
    } catch (error) {
      if (error instanceof EntryError) return [];
      throw error;
    }
  });
}
