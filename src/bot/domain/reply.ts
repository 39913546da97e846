import type { Language } from '../../shared/text/texts.ts';
import type { DeliveryId } from './ids.ts';

/** What a reply looks like at one instant, before the platform's own dialect. `text` is the model's (or our notice's) text alone. */
export interface ReplyView {
  text: string;
  /** A line about what is going on (waiting, a notice about the account). It is shown apart from the text. */
  status?: string;
  /**
   * The newest part of the model's thought, for the platform's own place for it; never part of the text. Empty when the
   * model thinks but nobody is to read what.
   */
  thinking?: string;
  /** Whom a word of ours in a group calls, by their user id, where the platform `canMention`; never taken from a text. */
  mention?: string;
  finished: boolean;
}

/** Where it is told, by the delivery id, that a pulled reply has changed, where somebody shows it over a connection of ours. */
export const REPLY_CHANNEL = 'reply-changed';

/** The state of a pulled reply as the platform's poll gets it: already rendered by `renderReply`. */
export interface PulledReply {
  replyId: DeliveryId;
  content: string;
  finished: boolean;
  /** What may be pressed at it; with one poll of an answer at most. */
  offers?: ReplyOffers;
}

/** One snapshot of an answer, as it is to stand in its visible message. */
export interface ReplySnapshot {
  /** The whole rendered text so far. */
  content: string;
  /** What of it this process has put there; absent after a take-over, when only the platform knows. */
  shown?: string;
  finished: boolean;
  /** The message stays as it is for long, to be edited later (an invitation to sign in). */
  staysOpen?: boolean;
  /** An earlier post of it may turn up after all: this one must be known by its key from the beginning. */
  isRepeat?: boolean;
  /** What is said about a finished answer, in plain words: shown apart from its text, in the platform's own place for that. */
  note?: string;
  /** What may be pressed at it. */
  offers?: ReplyOffers;
  /** With an answer's last snapshot: what `find` says of it from then on. */
  ends?: AnswerEnd;
}

/** What may be pressed at an answer, with the words on it. Shown apart from the text, on platforms that have such a place. */
export interface ReplyOffers {
  /** The message that it answers. */
  answer: DeliveryId;
  language: Language;
  /** Stands above them where they have a place of their own. */
  heading: string;
  stop?: string;
  retry?: string;
  rate?: { good: string; bad: string };
}

/** Marks of an answer that is whole. */
export interface AnswerEnd {
  /** The key of its last part: once that stands with its last snapshot, the answer is whole. */
  lastKey: string;
  /** First parts' keys of the messages that were merged into the one that it answers: it is their answer as well. */
  mergedKeys: string[];
}
