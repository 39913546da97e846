import { REPLY_TEXTS } from '../src/bot/i18n/reply-texts.ts';
import { kindOfText } from './judge-text.ts';
import { questionsIn, type Ledger, type VisibleMessage } from './ledger.ts';

/** Between an earlier answer and the reply that it is shown before. */
const BORDER = '\n\n---\n\n';

/** An answer that the platform refused begins the person's next private reply. Each of both is judged as a message of its own. */
export function separateLeftovers(ledger: Ledger): Ledger {
  return { ...ledger, messages: ledger.messages.flatMap(separate) };
}

function separate(message: VisibleMessage): VisibleMessage[] {
  const parts = message.snapshots.map(({ atMs, text }) => ({ atMs, ...partsOf(text) }));
  const earlier = parts.flatMap(({ atMs, leftover }) => (leftover === undefined ? [] : [{ atMs, text: leftover }]));
  if (earlier.length === 0) return [message];
  const own = { ...message, snapshots: parts.map(({ atMs, own: text }) => ({ atMs, text })) };
  const [event] = questionsIn(earlier[0]?.text ?? '');
  return [{ conversation: message.conversation, event, snapshots: earlier, isFinal: true }, own];
}

/** WeCom's block of notes before a text. */
const NOTES = /^<think>[^]*?<\/think>\n?/;

function partsOf(shown: string): { leftover?: string; own: string } {
  const text = shown.replace(NOTES, '');
  const heading = Object.values(REPLY_TEXTS.earlierAnswer).find((words) => text.startsWith(words));
  if (heading === undefined) return { own: shown };
  // Both texts may contain such a line themselves.
  for (let at = text.indexOf(BORDER); at >= 0; at = text.indexOf(BORDER, at + 1)) {
    const [leftover, own] = [text.slice(heading.length, at), text.slice(at + BORDER.length)];
    if ([leftover, own].every((part) => kindOfText(part).kind !== 'broken')) return { leftover, own };
  }
  return { own: shown };
}
