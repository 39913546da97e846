import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';
import { deliveryIdOfEntry, EntryError, openEntry } from './inbox-entry.ts';
import { type WaitingMessage } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';

const ANSWER_PURPOSE = 'answer';

/** Seals a turn's full answer. */
export function sealAnswer(keyRing: KeyRing, turnId: DeliveryId, answer: string): string {
  return keyRing.seal(ANSWER_PURPOSE, turnId, answer);
}

/** Opens a turn's stored answer. One that is broken or lacks its key counts as none: whatever it was, the question can be answered. */
export function openAnswer(keyRing: KeyRing, turnId: DeliveryId, sealed: string): string | undefined {
  if (sealed === '') return undefined;
  const opened = tryOpen(() => keyRing.open(ANSWER_PURPOSE, turnId, sealed));
  return opened.kind === 'opened' ? opened.value : undefined;
}

/**
 * Opens a turn's messages. `unreadable` names the broken ones; and those that lack their key, which the claim leaves where they
 * are for as long as somebody may have it.
 * @throws EntryError for what only a newer worker reads
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

/** Opens what can be opened; the rest (broken, without its key, of a newer version) waits for its own turn. */
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
