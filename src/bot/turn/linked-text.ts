import { sayTyped, type Voice } from '../i18n/say-typed.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';

/**
 * Tells a person in the chat to which account it belongs from now on, and how to undo that (SECURITY.md link-is-told). When that
 * was, the app says beside the message, in the reader's own zone, which we do not know.
 */
export function linkedText(voice: Voice, { name, maskedId }: { name: string; maskedId: string }): string {
  return sayTyped(TURN_TEXTS.linkedNotice, voice, { name, id: maskedId });
}
