import { say, type Language } from '../base/texts.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';

/** Tells a person in the chat to which account it belongs from now on, and how to undo that (security.md 1.3 step 23). */
export function linkedText(
  language: Language,
  { name, maskedId, atMs }: { name: string; maskedId: string; atMs: number },
): string {
  const locale = language === 'zh' ? 'zh-CN' : 'en-GB';
  const time = new Date(atMs).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' });
  return say(TURN_TEXTS.linkedNotice, language, { name, id: maskedId, time });
}
