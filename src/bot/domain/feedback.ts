import type { Language } from '../../shared/text/texts.ts';
import type { DeliveryId } from './ids.ts';
import type { Chat, Sender } from './message.ts';

/** A person's opinion of an answer. `withdrawn` cancels an earlier one. */
export type FeedbackVerdict = 'good' | 'bad' | 'withdrawn';

/** Reasons for a bad rating that platforms offer (PLATFORM_FACTS.md wecom-events). */
export const FEEDBACK_REASONS = ['irrelevant', 'incomplete', 'wrong', 'wrong-data'] as const;
export type FeedbackReason = (typeof FEEDBACK_REASONS)[number];

/** A person rated an answer or gave a reason. */
export interface InboundFeedback {
  /** Set for a further tenant. Defaults to the platform's own tenant. */
  tenant?: string;
  chat: Chat;
  /** The person who rated the answer. Anyone who can read an answer may rate it. */
  sender: Sender;
  /** Id of the answered message. Undefined if the event names no answer of ours. */
  answer?: DeliveryId;
  verdict: FeedbackVerdict;
  reasons: readonly FeedbackReason[];
  /** The person's comment. Stored only if the settings allow it. */
  words?: string;
  /** How to ask the person for a reason or thank them. Undefined if the platform itself does so. */
  followUp?: FeedbackFollowUp;
}

/** How to address only the person who rated an answer. */
export interface FeedbackFollowUp {
  language: Language;
  /** Where to ask for the reason, in the platform's format. */
  target: string;
  /** Where the question for the reason was posted. Set once it is answered. */
  askedAt?: string;
}
