import { ifOpens, SealError, type KeyRing } from '../base/key-ring.ts';
import { deliveryIdOfEntry, EntryError, openEntry } from './inbox-entry.ts';
import { type WaitingMessage } from '../domain/turn.ts';

const ANSWER_PURPOSE = 'answer';

/** Seals a turn's full answer. */
export function sealAnswer(keyRing: KeyRing, turnId: string, answer: string): string {
  return keyRing.seal(ANSWER_PURPOSE, turnId, answer);
}

/** Opens a turn's stored answer. One that does not open counts as none: whatever it was, the question can be answered. */
export function openAnswer(keyRing: KeyRing, turnId: string, sealed: string): string | undefined {
  if (sealed === '') return undefined;
  return ifOpens(() => keyRing.open(ANSWER_PURPOSE, turnId, sealed));
}

/**
 * Opens a turn's messages. `unreadable` names those that were altered.
 * @throws EntryError for what only a newer worker reads
 */
export function readEntries(keyRing: KeyRing, entries: string[]): { messages: WaitingMessage[]; unreadable: string[] } {
  const messages: WaitingMessage[] = [];
  const unreadable: string[] = [];
  for (const entry of entries) {
    try {
      messages.push(openEntry(keyRing, entry));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      unreadable.push(deliveryIdOfEntry(entry));
    }
  }
  return { messages, unreadable };
}

/** Opens what can be opened; the rest waits for whoever can. */
export function readableOf(keyRing: KeyRing, entries: string[]): WaitingMessage[] {
  return entries.flatMap((entry) => {
    try {
      return [openEntry(keyRing, entry)];
    } catch (error) {
      if (error instanceof SealError || error instanceof EntryError) return [];
      throw error;
    }
  });
}
