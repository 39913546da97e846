import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import type { Language } from '../../shared/text/texts.ts';
import { conversationOf, personIdOf, type GroupScope } from '../domain/conversation.ts';
import { FEEDBACK_REASONS, type InboundFeedback } from '../domain/feedback.ts';
import { REASON_TEXTS } from '../i18n/feedback-texts.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import type { FeedbackChange, Rating } from '../reply/feedback/keep-feedback.ts';
import { NOT_STORED, type Arrival, type DeliveryOf, type Handled } from './arrival.ts';
import type { WebhookReport } from './webhook-report.ts';

export interface RatingOptions {
  groupScope: GroupScope;
  keepFeedback(rating: Rating): Promise<FeedbackChange>;
  log: Log;
  report: WebhookReport;
}

/** A rating that cannot be stored now is lost: the sender gets no answer to it, and no platform delivers it again. */
export async function rateAnswer(
  options: RatingOptions,
  { platform, deadline }: Arrival,
  { feedback, answer }: DeliveryOf<'feedback'>,
): Promise<Handled> {
  try {
    await deadline.retry(() => takeRating(options, platform, feedback));
    return { answer, outcome: 'event' };
  } catch (error) {
    options.log.warn(
      { error: asError(error), platform: platform.name, trace: feedback.answer },
      'a rating could not be stored',
    );
    return NOT_STORED;
  }
}

/**
 * Keeps a person's rating of an answer and counts it once, however often it is delivered. Asks for the reason of a
 * bad rating, in the background, where the platform does not ask by itself.
 * @throws any error of the Redis connection
 */
async function takeRating(
  { groupScope, keepFeedback, report }: RatingOptions,
  platform: Platform,
  feedback: InboundFeedback,
): Promise<void> {
  const { answer, verdict, reasons, words, chat, sender, followUp } = feedback;
  const { name, app } = platform;
  const owner = { platform: name, tenant: feedback.tenant ?? platform.tenant, app };
  if (answer === undefined) return report.feedbackGiven({ platform: name, verdict, reasons, isDetail: false });
  const { partition } = conversationOf({ ...owner, chat, sender }, groupScope);
  const personId = personIdOf(owner, sender.userId);
  const change = await keepFeedback({ partition, answer, platform: name, personId, verdict, reasons, words });
  const isNews = change !== 'same' && change !== 'full';
  const isDetail = change === 'detailed';
  if (isNews) report.feedbackGiven({ platform: name, verdict, reasons, isDetail, deliveryId: answer });
  const push = platformForTenant(platform, owner.tenant)?.push;
  if (!followUp || !push) return;
  const { language } = followUp;
  if (reasons.length > 0) inBackground(() => push.acknowledgeFeedback?.(followUp, REASON_TEXTS.thanks[language]));
  else if (verdict === 'bad' && isNews)
    inBackground(() => push.requestFeedbackReason?.(followUp, answer, reasonQuestion(language)));
}

function reasonQuestion(language: Language) {
  const labels = FEEDBACK_REASONS.map((reason) => [reason, REASON_TEXTS[reason][language]] as const);
  return { question: REASON_TEXTS.why[language], labels: new Map(labels) };
}
