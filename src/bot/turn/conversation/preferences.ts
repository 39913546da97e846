import { hashParts } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { PreferencesChange } from '../../domain/turn.ts';
import type { PersonId } from '../../domain/ids.ts';

/** How hard the model is to think, as a person chose it. */
export type ThinkingChoice = 'off' | 'low' | 'high' | 'max';

/** What one person chose in one chat and its threads; what is absent follows the defaults. */
export interface Preferences {
  model?: string;
  thinking?: ThinkingChoice;
  /** The language of the bot's own texts. */
  language?: Language;
}

type Place = Pick<InboundMessage, 'platform' | 'tenant' | 'app' | 'chat' | 'sender'>;

const PURPOSE = 'preferences';
const EFFORTS: readonly unknown[] = ['off', 'low', 'high', 'max'] satisfies ThinkingChoice[];
const LANGUAGES: readonly unknown[] = ['en', 'zh'] satisfies Language[];

/**
 * Opens what the sender of a message chose in its chat. Where nothing is kept, or it is broken or lacks its key, the defaults
 * hold (SECURITY.md key-rotation).
 * @param sealed the fields of the sender's hash, as a claim carries them
 */
export function openPreferences(keyRing: KeyRing, sealed: Readonly<Record<string, string>>, place: Place): Preferences {
  const { personId, field } = ownerOfPreferences(place);
  const kept = sealed[field];
  if (kept === undefined) return {};
  const opened = tryOpenJson(() => keyRing.open(PURPOSE, `${personId}|${field}`, kept), readPreferences);
  return opened.kind === 'opened' ? opened.value : {};
}

/** Seals what a person chose, for the commit. */
export function sealPreferences(keyRing: KeyRing, place: Place, preferences: Preferences): PreferencesChange {
  const { personId, field } = ownerOfPreferences(place);
  return { personId, field, sealed: keyRing.seal(PURPOSE, `${personId}|${field}`, JSON.stringify(preferences)) };
}

/** Whose field of which hash a person's choices in a chat are. Of a chat and all its threads: an answer may begin one, and what was chosen holds there too. */
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
