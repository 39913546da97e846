import { hashParts } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { PreferencesChange } from '../../domain/turn.ts';
import type { PersonId } from '../../domain/ids.ts';

/** Reasoning effort chosen by a person. */
export type ThinkingChoice = 'off' | 'low' | 'high' | 'max';

/** Choices of one person in one chat and its threads. Absent fields use the defaults. */
export interface Preferences {
  model?: string;
  thinking?: ThinkingChoice;
  /** Language of the bot's own texts. */
  language?: Language;
}

type Place = Pick<InboundMessage, 'platform' | 'tenant' | 'app' | 'chat' | 'sender'>;

const PURPOSE = 'preferences';
const EFFORTS: readonly unknown[] = ['off', 'low', 'high', 'max'] satisfies ThinkingChoice[];
const LANGUAGES: readonly unknown[] = ['en', 'zh'] satisfies Language[];

/**
 * Decrypts the preferences of a message's sender in its chat. The defaults apply if none are stored, or the record is broken
 * or has no available key (SECURITY.md key-rotation).
 * @param sealed fields of the sender's hash, as contained in the claim
 */
export function openPreferences(keyRing: KeyRing, sealed: Readonly<Record<string, string>>, place: Place): Preferences {
  const { personId, field } = ownerOfPreferences(place);
  const kept = sealed[field];
  if (kept === undefined) return {};
  const opened = tryOpenJson(() => keyRing.open(PURPOSE, `${personId}|${field}`, kept), readPreferences);
  return opened.kind === 'opened' ? opened.value : {};
}

/** Decrypts a person's preferences in all chats of a partition. Records that cannot be decrypted are left out. */
export function openPreferencesOf(
  keyRing: KeyRing,
  personId: PersonId,
  stored: Readonly<Record<string, string>>,
): Preferences[] {
  return Object.entries(stored).flatMap(([field, sealed]) => {
    const opened = tryOpenJson(() => keyRing.open(PURPOSE, `${personId}|${field}`, sealed), readPreferences);
    return opened.kind === 'opened' ? [opened.value] : [];
  });
}

/** Encrypts a person's preferences for the commit. */
export function sealPreferences(keyRing: KeyRing, place: Place, preferences: Preferences): PreferencesChange {
  const { personId, field } = ownerOfPreferences(place);
  return { personId, field, sealed: keyRing.seal(PURPOSE, `${personId}|${field}`, JSON.stringify(preferences)) };
}

/**
 * Hash and field of a person's preferences in a chat. They apply to the chat and all its threads, because an answer may
 * begin a thread.
 */
export function ownerOfPreferences({ chat, sender, ...owner }: Place): { personId: PersonId; field: string } {
  return {
    personId: personIdOf(owner, sender.userId),
    field: hashParts(PURPOSE, chat.kind, chat.id).slice(0, 16),
  };
}

function readPreferences(value: unknown): Preferences | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { model, thinking, language } = value as Record<keyof Preferences, unknown>;
  return {
    model: typeof model === 'string' ? model : undefined,
    thinking: EFFORTS.includes(thinking) ? (thinking as ThinkingChoice) : undefined,
    language: LANGUAGES.includes(language) ? (language as Language) : undefined,
  };
}
