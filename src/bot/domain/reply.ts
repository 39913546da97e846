import type { Language } from '../../shared/text/texts.ts';
import type { DeliveryId } from './ids.ts';

/** A reply at one moment, before it is rendered for the platform. `text` contains only the model's text, or a notice. */
export interface ReplyView {
  text: string;
  /** A line about the progress (waiting, a notice about the account), shown apart from the text. */
  status?: string;
  /**
   * The newest part of the model's reasoning, for the platform's place for it; never part of the text. Empty if the model
   * reasons but the reasoning must not be shown.
   */
  thinking?: string;
  /** User id of the person mentioned by a notice in a group, where the platform `canMention`. Never taken from a text. */
  mention?: string;
  finished: boolean;
}

/** Channel that announces a changed pulled reply, by delivery id, to the process that shows it over a connection. */
export const REPLY_CHANNEL = 'reply-changed';

/** State of a pulled reply for the platform's poll, already rendered by `renderReply`. */
export interface PulledReply {
  replyId: DeliveryId;
  content: string;
  finished: boolean;
  /** Buttons of the answer. Given with one poll of an answer at most. */
  offers?: ReplyActions;
}

/** One snapshot of an answer, as its post must show it. */
export interface ReplySnapshot {
  /** The complete rendered text so far. */
  content: string;
  /** The part of the text that this process has posted. Undefined after a takeover, when only the platform knows. */
  shown?: string;
  finished: boolean;
  /** The post stays open for long and is edited later (an invitation to sign in). */
  staysOpen?: boolean;
  /** An earlier post of the same snapshot may still appear, so that this one must carry its key from the start. */
  isRepeat?: boolean;
  /** A remark about a finished answer, in plain text, shown apart from it in the platform's place for remarks. */
  note?: string;
  /** Buttons of the answer. */
  offers?: ReplyActions;
  /** Set with the last snapshot of an answer: what `find` reports about it from then on. */
  ends?: AnswerEnd;
}

/** Buttons of an answer with their labels. Shown apart from the text, on platforms that have a place for them. */
export interface ReplyActions {
  /** Id of the answered message. */
  answer: DeliveryId;
  language: Language;
  /** Heading above the buttons, where they have a separate place. */
  heading: string;
  stop?: string;
  retry?: string;
  rate?: { good: string; bad: string };
}

/** Marks of a complete answer. */
export interface AnswerEnd {
  /** Key of its last part. Once that part has its last snapshot, the answer is complete. */
  lastKey: string;
  /** Keys of the first parts of the messages that were merged into the answered one. It answers them too. */
  mergedKeys: string[];
}
