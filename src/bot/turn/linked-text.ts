import { localizeForChat, type Voice } from '../i18n/say-typed.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';

/**
 * Tells a person in the chat which account it is linked to, and how to undo the link (SECURITY.md link-is-told). The text
 * has no time: the app shows it in the reader's time zone, which is unknown here.
 */
export function linkedText(voice: Voice, { name, maskedId }: { name: string; maskedId: string }): string {
  return localizeForChat(TURN_TEXTS.linkedNotice, voice, { name, id: maskedId });
}
