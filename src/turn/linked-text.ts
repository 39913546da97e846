import { say, type Language } from '../base/texts.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';

/**
 * Tells a person in the chat to which account it belongs from now on, and how to undo that (security.md 1.3 step 23). When that
 * was, the app says beside the message, in the reader's own zone, which we do not know.
 */
export function linkedText(language: Language, { name, maskedId }: { name: string; maskedId: string }): string {
  return say(TURN_TEXTS.linkedNotice, language, { name, id: maskedId });
}
