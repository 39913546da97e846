import { REPLY_TEXTS } from '../src/bot/i18n/reply-texts.ts';
import { withoutSlashes } from '../src/shared/text/texts.ts';
import { FILE_TEXTS } from '../src/bot/i18n/file-texts.ts';
import { SIGN_IN_TEXTS } from '../src/bot/i18n/sign-in-texts.ts';
import { TURN_TEXTS } from '../src/bot/i18n/turn-texts.ts';

const TEXTS = { ...SIGN_IN_TEXTS, ...TURN_TEXTS, not_read: FILE_TEXTS.not_read, unreachable: FILE_TEXTS.unreachable };

/** Kind of a visible text. `broken`: an answer that no model gave. */
export type TextKind =
  | { kind: 'answer'; sampling: number; isWhole: boolean }
  | { kind: 'broken'; why: string }
  /** Refers to the answer of the turn that it was merged into. */
  | { kind: 'pointer' }
  /** Announces that the answer follows as a separate message. */
  | { kind: 'follows' }
  /** The same, because the platform refused it here. */
  | { kind: 'moved' }
  | { kind: 'apology'; name: Apology }
  /** Says that there is no answer and asks the person to ask again: its message was never accepted. */
  | { kind: 'gone' }
  /** About the account: an invitation, or the result of a sign-in. */
  | { kind: 'account'; name: AccountText }
  /** Current activity; never the end of a message. */
  | { kind: 'status' }
  | { kind: 'empty' }
  | { kind: 'unknown' };

/** The mark of an AI answer, which may stand before a notice. */
const MARKS = Object.values(REPLY_TEXTS.aiMark).map((mark) => `<think>ℹ️ ${mark}</think>\n`);

/** Apologies that an external fault explains, by the names of their texts. */
export type Apology = (typeof APOLOGIES)[number];

const APOLOGIES = [
  'chatDown',
  'chatBusy',
  'chatLoading',
  'chatOff',
  'emptyAnswer',
  'expired',
  'deadLetter',
  'internal',
  'not_read',
  'unreachable',
] as const;
const STATUS_TEXTS = ['thinking', 'waitsForCapacity', 'waitsForService', 'waitsForModel'] as const;

/** Texts for a person who signs in with a typed code. */
const ACCOUNT_TEXTS = [
  ...(['invitation', 'invitationHeld', 'waitingForSignIn', 'released', 'linkedNotice'] as const),
  ...(['alreadyLinked', 'codeWrong', 'codeExpired', 'codeNotAwaited', 'codeFailed'] as const),
] as const;
export type AccountText = (typeof ACCOUNT_TEXTS)[number];

/** Classifies a text by the stand-in's identifiable words. A growing answer counts as an answer; see `isWhole`. */
export function kindOfText(text: string): TextKind {
  if (text.trim() === '') return { kind: 'empty' };
  const words = Array.from(text.matchAll(/\bS(\d+)(?:w(\d+)|(end))\b/g), ([, sampling, place, end]) => ({
    sampling: Number(sampling),
    place: end === undefined ? Number(place) : ('end' as const),
  }));
  const [first] = words;
  if (first) return kindOfWords(words, first.sampling);
  if (is(text, REPLY_TEXTS.answeredBelow) || is(text, REPLY_TEXTS.answeredAbove)) return { kind: 'pointer' };
  const unmarked = MARKS.reduce((rest, mark) => rest.replace(mark, ''), text);
  if (is(unmarked, REPLY_TEXTS.followsBelow)) return { kind: 'follows' };
  if (is(unmarked, REPLY_TEXTS.movedBelow)) return { kind: 'moved' };
  if (is(text, REPLY_TEXTS.unknownReply)) return { kind: 'gone' };
  const name = APOLOGIES.find((apology) => is(text, TEXTS[apology]));
  if (name) return { kind: 'apology', name };
  // WeCom shows some of them as reasoning.
  const thought = text.replace(/^<think>(?:ℹ️ )?/, '');
  if (STATUS_TEXTS.some((status) => is(thought, TEXTS[status]))) return { kind: 'status' };
  const account = ACCOUNT_TEXTS.find((about) => is(thought, TEXTS[about]));
  return account ? { kind: 'account', name: account } : { kind: 'unknown' };
}

/** Whether an answer states that it is incomplete. */
export function saysInterrupted(text: string): boolean {
  const { en } = TURN_TEXTS.interrupted;
  return text.includes(en) || text.includes(withoutSlashes(en));
}

function kindOfWords(words: { sampling: number; place: number | 'end' }[], sampling: number): TextKind {
  const others = new Set(words.map((word) => word.sampling));
  if (others.size > 1) return { kind: 'broken', why: `joins the samplings ${[...others].join(', ')}` };
  const isWhole = words.at(-1)?.place === 'end';
  const places = words.slice(0, isWhole ? -1 : undefined).map(({ place }) => place);
  const gap = places.findIndex((place, index) => place !== index);
  if (gap >= 0) return { kind: 'broken', why: `word ${gap} of sampling ${sampling} is missing or repeated` };
  return { kind: 'answer', sampling, isWhole };
}

/** The part before a placeholder identifies a sentence, in each platform's spelling of the commands. */
function is(text: string, { en, zh }: { en: string; zh: string }): boolean {
  return [en, withoutSlashes(en), zh].some((sentence) => text.startsWith(sentence.split('{')[0] ?? sentence));
}
