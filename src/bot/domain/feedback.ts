import type { Language } from '../../shared/text/texts.ts';
import type { DeliveryId } from './ids.ts';
import type { Chat, Sender } from './message.ts';

/** What somebody thinks of an answer; `withdrawn` takes back what they said before. */
export type FeedbackVerdict = 'good' | 'bad' | 'withdrawn';

/** Why an answer was no good, in the words that platforms offer (PLATFORM_FACTS.md wecom-events names them). */
export const FEEDBACK_REASONS = ['irrelevant', 'incomplete', 'wrong', 'wrong-data'] as const;
export type FeedbackReason = (typeof FEEDBACK_REASONS)[number];

/** Somebody rated an answer, or says why. */
export interface InboundFeedback {
  /** Of a further tenant; the platform's own unless told. */
  tenant?: string;
  chat: Chat;
  /** Whoever rated it: anybody who can read it may. */
  sender: Sender;
  /** The answer, by the message that it answers; absent where what came names none of ours. */
  answer?: DeliveryId;
  verdict: FeedbackVerdict;
  reasons: readonly FeedbackReason[];
  /** What they wrote about it; kept only where the settings say so. */
  words?: string;
  /** Where they may be asked why, or thanked, as the platform writes it; absent where the platform itself does so. */
  followUp?: FeedbackFollowUp;
}

/** How somebody who rated an answer is spoken to, alone. */
export interface FeedbackFollowUp {
  language: Language;
  /** Where they are asked why. */
  target: string;
  /** Where the question why stands, once it is answered. */
  askedAt?: string;
}
