import { asError } from '../../shared/coded-error.ts';
import type { NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { localize, type Language, type Bilingual } from '../../shared/text/texts.ts';
import { inSpan, isTracing } from '../../shared/tracing/tracing.ts';
import {
  conversationOf,
  deliveryIdOf,
  personIdOf,
  type ConversationRef,
  type GroupScope,
} from '../domain/conversation.ts';
import { inBackground } from '../../shared/in-background.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Delivery, WebhookResponse, Platform, Welcome, Press } from '../platforms/platform.ts';
import type { SuggestedPrompts } from '../platforms/prompts-file.ts';
import type { InboundMessage, Refusal, Sender, InboundAmendment } from '../domain/message.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Inbox } from '../queue/accept.ts';
import { isFollowed } from '../queue/thread-subscriptions.ts';
import { stopRunning } from '../queue/stop-running.ts';
import { enqueue } from '../queue/enqueue.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { createMissingReplies, type MissingReplies } from '../reply/missing-replies.ts';
import { readLiveReply, stopAcceptedText, refusalText } from '../reply/read-live-reply.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { PRESS_TEXTS, REASON_TEXTS } from '../i18n/feedback-texts.ts';
import { DeliveryDeadline } from './delivery-deadline.ts';
import type { DeliveryOutcome, WebhookReport } from './webhook-report.ts';
import { fieldsToRead } from '../domain/message-record.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { FEEDBACK_REASONS, type InboundFeedback } from '../domain/feedback.ts';
import type { FeedbackChange, Rating } from '../reply/feedback/keep-feedback.ts';
import type { AmendResult } from '../queue/edit-message.ts';
import { removeInvitation } from '../reply/take-invitation-away.ts';

/** The texts of a welcome and the suggested questions. A language without a text gets the default welcome. */
export interface Greeting {
  /** The person's, or the default. */
  language: Language;
  welcome?: Readonly<Partial<Record<Language, string>>>;
  prompts: SuggestedPrompts;
}

export interface HandleDeliveryOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  inbox: Inbox;
  wakeQueue: WakeQueue;
  groupScope: GroupScope;
  /** Handles changes to answered questions, and ratings of answers. */
  answered: Pick<AmendmentOptions, 'amendAnswered'> & Pick<FeedbackOptions, 'keepFeedback'>;
  /** Called for each new message once it is stored, to fetch its images meanwhile. Must not throw or wait. */
  onAccepted(
    platform: Platform,
    accepted: { conversation: ConversationRef; message: InboundMessage; deliveryId: DeliveryId },
  ): void;
  /** Called for each refused message on platforms whose HTTP answer cannot show the reason. Must not throw or wait. */
  onRefused(platform: Platform, message: InboundMessage, refusal: Refusal): void;
  /** The welcome and suggested questions for a person who has not written yet. Never rejects; bounded in time. */
  greeting(platform: Platform, to: { tenant: string; sender: Sender }): Promise<Greeting>;
  nowMs: NowMs;
  log: Log;
  report: WebhookReport;
}

interface Handled {
  answer: WebhookResponse;
  outcome: DeliveryOutcome;
  deliveryId?: DeliveryId;
}

/** @param startedMs when the delivery arrived, by `performance.now()` */
export type HandleDelivery = (platform: Platform, delivery: Delivery, startedMs: number) => Promise<Handled>;

const NOT_STORED: Handled = { answer: { status: 503, body: '' }, outcome: 'not-stored' };

/**
 * Handles each kind of verified delivery. Answers 200 only once a message is stored; an unwanted event is never an
 * error (SECURITY.md quiet-ignorance).
 */
export function createHandleDelivery(options: HandleDeliveryOptions): HandleDelivery {
  const { report } = options;
  const forPolls = { ...options, missing: createMissingReplies() };
  return async (platform, delivery, startedMs) => {
    const arrival = { platform, deadline: new DeliveryDeadline(options.redis, platform, startedMs) };
    switch (delivery.kind) {
      case 'refused':
        return { answer: { status: delivery.status, body: '' }, outcome: 'refused' };
      case 'handshake':
        return { answer: delivery.answer, outcome: 'handshake' };
      case 'ignored':
        return { answer: delivery.answer, outcome: 'ignored' };
      case 'feedback':
        return answerFeedback(options, arrival, delivery);
      case 'entered-chat':
        report.welcomeSent({ platform: platform.name });
        return { answer: delivery.answer(await welcomeOf(options, platform, delivery)), outcome: 'event' };
      case 'opened-chat':
        inBackground(async () => {
          const { prompts, language } = await options.greeting(platform, delivery);
          await platformForTenant(platform, delivery.tenant)?.suggest?.(delivery.target, prompts, language);
        });
        return { answer: delivery.answer, outcome: 'event' };
      case 'stop':
        return answerStop(options, arrival, delivery);
      case 'amendment':
        return answerAmendment(options, arrival, delivery);
      case 'poll':
        return answerPoll(forPolls, arrival, delivery);
      case 'message':
        return isTracing()
          ? receiveInSpan(options, arrival, { delivery, startedMs })
          : acceptMessage(options, arrival, delivery);
    }
  };
}

/** The platform waits at most 5 s for the welcome message. */
async function welcomeOf(
  { greeting }: HandleDeliveryOptions,
  platform: Platform,
  { botName, sender }: { botName: string; sender: Sender },
): Promise<Welcome> {
  const { welcome, prompts, language } = await greeting(platform, { tenant: platform.tenant, sender });
  return {
    botName,
    text: welcome?.[language] ?? localize(REPLY_TEXTS.welcome, language, { bot: botName }),
    prompts: prompts[language],
    heading: localize(REPLY_TEXTS.couldAsk, language),
  };
}

/** Where a delivery came from, and how long its response may take. */
interface Arrival {
  platform: Platform;
  deadline: DeliveryDeadline;
}

type MessageDelivery = Extract<Delivery, { kind: 'message' }>;
type StopDelivery = Extract<Delivery, { kind: 'stop' }>;
type FeedbackDelivery = Extract<Delivery, { kind: 'feedback' }>;
type AmendmentDelivery = Extract<Delivery, { kind: 'amendment' }>;
type PollDelivery = Extract<Delivery, { kind: 'poll' }>;

/** The first span of a message. Ids of people and chats are not recorded. */
function receiveInSpan(
  options: HandleDeliveryOptions,
  arrival: Arrival,
  { delivery, startedMs }: { delivery: MessageDelivery; startedMs: number },
): Promise<Handled> {
  const startedAtMs = options.nowMs() - (performance.now() - startedMs);
  const attributes = { 'parley.platform': arrival.platform.name, 'parley.chat': delivery.message.chat.kind };
  return inSpan('receive', { kind: 'server', startedAtMs, attributes }, async (span) => {
    const handled = await acceptMessage(options, arrival, delivery);
    const { outcome, deliveryId } = handled;
    const isFault = outcome === 'not-stored';
    span.set({ 'parley.outcome': outcome, 'parley.delivery': deliveryId, 'error.type': isFault ? outcome : undefined });
    return handled;
  });
}

async function acceptMessage(
  options: HandleDeliveryOptions,
  { platform, deadline }: Arrival,
  delivery: MessageDelivery,
): Promise<Handled> {
  const { message, answer, pressed } = delivery;
  const { log, groupScope, redis } = options;
  const conversation = conversationOf(message, groupScope);
  try {
    // Messages between other people are not processed further (SECURITY.md unaddressed-talk).
    const isOurs = !delivery.isUnaddressed || (await deadline.retry(() => isFollowed(redis, conversation)));
    if (!isOurs) return { answer: answer(undefined), outcome: 'ignored' };
    if (pressed && !(await deadline.retry(() => isPressedByAsker(redis, conversation, message, pressed)))) {
      notifyPresser(platform, message.tenant, pressed, PRESS_TEXTS.notYours);
      return { answer: answer(undefined), outcome: 'ignored' };
    }
    const { deliveryId, result } = await deadline.retry(() => enqueue(options, conversation, message));
    if (result === 'new') {
      options.onAccepted(platform, { conversation, message, deliveryId });
      return { answer: answer({ replyId: deliveryId, content: '', finished: false }), outcome: 'accepted', deliveryId };
    }
    if (platform.push) {
      // This platform does not show the HTTP answer to people.
      if (result !== 'repeat' && !isStop(message)) options.onRefused(platform, message, result);
      if (result === 'repeat' && pressed) notifyPresser(platform, message.tenant, pressed, PRESS_TEXTS.askedAgain);
      return { answer: answer(undefined), outcome: result === 'repeat' ? 'repeated' : result, deliveryId };
    }
    if (result !== 'repeat')
      return {
        answer: answer({
          replyId: deliveryId,
          content: isStop(message) ? stopAcceptedText() : refusalText(result),
          finished: true,
        }),
        outcome: result,
        deliveryId,
      };
    const personId = personIdOf(message, message.sender.userId);
    const reading = readLiveReply(
      { ...options, platform },
      { partition: conversation.partition, deliveryId, personId, isRepeat: true },
    );
    return { answer: answer(await deadline.within(reading)), outcome: 'repeated', deliveryId };
  } catch (error) {
    const deliveryId = deliveryIdOf(message);
    log.warn(
      { error: asError(error), platform: platform.name, trace: deliveryId },
      'a message could not be stored; Parley tries again',
    );
    return { ...NOT_STORED, deliveryId };
  }
}

/** A refused stop has still taken effect, so its sender must not be asked to send it again. */
function isStop({ slash }: InboundMessage): boolean {
  return slash?.word === 'stop';
}

/** A stop is not queued behind the turn that it stops. If it cannot be marked now, the platform delivers it again. */
async function answerStop(
  { redis, groupScope, log }: HandleDeliveryOptions,
  { platform, deadline }: Arrival,
  { stop, pressed, answer }: StopDelivery,
): Promise<Handled> {
  try {
    const isStopped = await deadline.retry(() => stopRunning(redis, platform, stop, groupScope));
    if (!isStopped && pressed) notifyPresser(platform, stop.tenant, pressed, PRESS_TEXTS.nothingStopped);
    return { answer, outcome: 'event' };
  } catch (error) {
    log.warn({ error: asError(error), platform: platform.name }, 'a stop could not be recorded');
    return NOT_STORED;
  }
}

/** The platform delivers an amendment again if it cannot be applied now. */
async function answerAmendment(
  options: HandleDeliveryOptions,
  { platform, deadline }: Arrival,
  { amendment, answer }: AmendmentDelivery,
): Promise<Handled> {
  try {
    // Amending an answered message on the platform is not retried at once.
    const inbox: AmendmentOptions['inbox'] = {
      amend: (...of) => deadline.retry(() => options.inbox.amend(...of)),
    };
    const handled = handleAmendment({ ...options, ...options.answered, inbox }, platform, amendment);
    await deadline.within(handled);
    return { answer, outcome: 'event' };
  } catch (error) {
    options.log.warn(
      { error: asError(error), platform: platform.name, trace: deliveryIdOf(amendment.message) },
      'a deletion or edit of a message could not be recorded',
    );
    return NOT_STORED;
  }
}

/** A rating that cannot be stored now is lost: the sender gets no answer to it, and no platform delivers it again. */
async function answerFeedback(
  options: HandleDeliveryOptions,
  { platform, deadline }: Arrival,
  { feedback, answer }: FeedbackDelivery,
): Promise<Handled> {
  try {
    await deadline.retry(() => handleFeedback({ ...options, ...options.answered }, platform, feedback));
    return { answer, outcome: 'event' };
  } catch (error) {
    options.log.warn(
      { error: asError(error), platform: platform.name, trace: feedback.answer },
      'a rating could not be stored',
    );
    return NOT_STORED;
  }
}

async function answerPoll(
  options: HandleDeliveryOptions & { missing: MissingReplies },
  { platform, deadline }: Arrival,
  delivery: PollDelivery,
): Promise<Handled> {
  const { chat, sender, replyId, answer } = delivery;
  const onSeen = (deliveryId: DeliveryId) => options.inbox.markAnswerSeen(deliveryId);
  const owner = { platform: platform.name, tenant: platform.tenant, app: platform.app };
  const { partition } = conversationOf({ ...owner, chat, sender }, options.groupScope);
  try {
    const personId = personIdOf(owner, sender.userId);
    const reading = readLiveReply({ ...options, platform, onSeen }, { partition, deliveryId: replyId, personId });
    return { answer: answer(await deadline.within(reading)), outcome: 'polled' };
  } catch (error) {
    options.log.debug({ error: asError(error), platform: platform.name }, 'a poll could not be answered');
    return NOT_STORED;
  }
}

/**
 * Whether the person who pressed a button of an answer is the one who asked (SECURITY.md own-buttons). The owner is
 * known for a day; after that this returns true, and the turn searches the person's latest questions.
 */
async function isPressedByAsker(
  redis: RedisClient,
  { partition }: ConversationRef,
  message: InboundMessage,
  { answer }: { answer: DeliveryId },
): Promise<boolean> {
  const owner = await redis.hget(messageKey(partition, answer), fieldsToRead('owner')[0]);
  return owner === null || owner === personIdOf(message, message.sender.userId);
}

/** Tells the person who pressed a button, and only them, what came of it. Runs in the background; failures are ignored. */
function notifyPresser(
  platform: Platform,
  tenant: string | undefined,
  { target, language }: Press,
  text: Bilingual,
): void {
  const push = platformForTenant(platform, tenant ?? platform.tenant)?.push;
  inBackground(() => push?.postEphemeral?.(target, localize(text, language)));
}

interface FeedbackOptions {
  groupScope: GroupScope;
  keepFeedback(rating: Rating): Promise<FeedbackChange>;
  report: Pick<WebhookReport, 'feedbackGiven'>;
}

/**
 * Keeps a person's rating of an answer and counts it once, however often it is delivered. Asks for the reason of a
 * bad rating, in the background, where the platform does not ask by itself.
 * @throws any error of the Redis connection
 */
async function handleFeedback(
  { groupScope, keepFeedback, report }: FeedbackOptions,
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
    inBackground(() => push.requestFeedbackReason?.(followUp, answer, whyIn(language)));
}

function whyIn(language: Language) {
  const labels = FEEDBACK_REASONS.map((reason) => [reason, REASON_TEXTS[reason][language]] as const);
  return { question: REASON_TEXTS.why[language], labels: new Map(labels) };
}

interface AmendmentOptions {
  redis: RedisClient;
  inbox: Pick<Inbox, 'amend'>;
  wakeQueue: Pick<WakeQueue, 'wake'>;
  groupScope: GroupScope;
  log: Log;
  /** Applies the amendment to a message that was already answered. Safe to repeat. */
  amendAnswered(platform: Platform, amendment: InboundAmendment, amended: AmendResult): Promise<void>;
}

/**
 * Withdraws a message that a person deleted, or changes one that they edited, whatever its state.
 * @throws any error of the store; the platform must then deliver the amendment again
 */
async function handleAmendment(
  { redis, inbox, wakeQueue, groupScope, log, amendAnswered }: AmendmentOptions,
  platform: Platform,
  amendment: InboundAmendment,
): Promise<void> {
  const amended = await inbox.amend(conversationOf(amendment.message, groupScope), amendment);
  // A running turn restarts by itself; the wake covers a turn whose worker has died.
  if (amended.where === 'running')
    inBackground(
      () => wakeQueue.wake(amended.conversation),
      (error) => log.debug({ error }, 'a worker could not be woken; the sweeper does it later'),
    );
  if (amended.where === 'held' && amended.nothingWaits) {
    const { turnId: deliveryId, conversation } = amended;
    const { partition } = conversation;
    await removeInvitation(redis, platformForTenant(platform, amendment.message.tenant), { partition, deliveryId });
  }
  if (amended.where === 'answered') await amendAnswered(platform, amendment, amended);
}
