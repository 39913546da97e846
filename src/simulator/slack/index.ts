import { createHash } from 'node:crypto';
import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext, Protocol, ProtocolFactory, ProtocolOptions } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { amendMessage } from './amendments.ts';
import { BotMessages } from './bot-messages.ts';
import { Commands } from './commands.ts';
import { Entries } from './entries.ts';
import { EventClient } from './event-client.ts';
import { EventPayloads } from './event-payload.ts';
import { HttpEvents } from './http-events.ts';
import { OpenId, type SlackClient } from './open-id.ts';
import { Presses } from './presses.ts';
import { Questions } from './questions.ts';
import { RateLimits } from './rate-limits.ts';
import { Responses } from './responses.ts';
import { slackRoutes } from './routes.ts';
import { DEFAULT_SCOPES } from './scopes.ts';
import { SocketEvents } from './socket-events.ts';
import { Statuses } from './statuses.ts';
import { SLACK_TIMING, type SlackTiming } from './timing.ts';
import { WebApi } from './web-api.ts';
import { TsClock, Workspace } from './workspace.ts';

export interface SlackOptions {
  signingSecret: string;
  botToken: string;
  client: SlackClient;
  /** App-level token, if the app is reached over sockets that it opens; otherwise its webhook is used. */
  appToken?: string;
  /** Scopes that the workspace grants to the app. Defaults to all that it needs. */
  scopes?: readonly string[];
  /** Multiple of Slack's rate limits. Defaults to 10, because one machine simulates a whole office. */
  rateFactor?: number;
  timing?: Partial<SlackTiming>;
}

const GENEROUS_FACTOR = 10;
/** Links in a Slack chat open in the person's own browser, in which they are signed in to Slack. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Slack: signed events to the bot, its answers through the Web API, threads, and the web sign-in. */
export function slackProtocol(options: SlackOptions): ProtocolFactory {
  return {
    name: 'slack',
    storeKey: createHash('sha256').update(`messenger|${options.signingSecret}`).digest(),
    userAgent: USER_AGENT,
    signsInAtService: false,
    start: (side, parts) => start(options, side, parts),
  };
}

function start(options: SlackOptions, side: MessengerContext, { sessions, redis }: ProtocolOptions): Protocol {
  const { signingSecret, botToken, appToken, client: openIdClient, rateFactor = GENEROUS_FACTOR } = options;
  const { scopes = DEFAULT_SCOPES } = options;
  const { bot, directory, media, store, hub, trace, nowMs, url, background } = side;
  const { signal } = background;
  const timing = { ...SLACK_TIMING, ...options.timing };
  const workspace = new Workspace(directory);
  const clock = new TsClock(nowMs);
  const sockets = appToken === undefined ? undefined : new SocketEvents({ url, timing, trace, nowMs, signal });
  const transport = sockets ?? new HttpEvents({ botUrl: bot.url, signingSecret, nowMs, timing, signal });
  const client = new EventClient({ transport, timing, signal });
  const payloads = new EventPayloads({ directory, bot, media, nowMs, url, clock });
  const answers = new BotMessages(side, { workspace, clock, timing });
  const questions = new Questions(side, { client, payloads, clock });
  const responses = new Responses(side, { workspace, clock, answers });
  const presses = new Presses(side, { client, clock, responses, answers });
  const entries = new Entries(side, { client, payloads, clock, redis });
  const commands = new Commands(side, { client, payloads, clock, responses });
  const statuses = new Statuses(hub, timing.statusLifeMs);
  const api = new WebApi({ side, workspace, clock, answers, statuses });
  const limits = new RateLimits(rateFactor, nowMs);
  const redirectUri = `${new URL(bot.url).origin}/oauth/platform/slack/callback`;
  const openId = new OpenId({ client: openIdClient, redirectUri, url, nowMs });
  return {
    send: (saying) => (commands.isCommand(saying) ? commands.send(saying) : questions.send(saying)),
    prepare: (saying) => questions.prepare(saying),
    deliver: (question, copies) => questions.deliver(question, copies),
    redeliver: (messageId, copies) => questions.redeliver(messageId, copies),
    async resend(personId, messageId) {
      const message = await store.get(messageId);
      const isOwnCommand = message.slack?.isCommand === true && message.sender === personId;
      return isOwnCommand ? commands.resend(message) : questions.resend(personId, messageId);
    },
    answerTo: async (messageId) => answers.answerTo(await store.get(messageId)),
    stop: (personId, answerId) => stop({ side, client, payloads, answers, questions }, personId, answerId),
    amend: (personId, messageId, text) => amendMessage(side, { client, payloads }, { personId, messageId, text }),
    enterChat: (personId) => entries.enter(personId),
    press: (personId, messageId, button) => presses.press(personId, messageId, button),
    rate: (personId, messageId, rating) => presses.rate(personId, messageId, rating),
    verifyBot: () => client.verifyUrl(side.timing.verifyTimeoutMs),
    onBotReconnected: () => entries.onBotReconnected(),
    routes: () =>
      slackRoutes({
        side,
        sessions,
        api,
        limits,
        tokens: { bot: botToken, app: appToken },
        scopes,
        responses,
        openId,
        sockets,
      }),
    connections: sockets,
    upgrade: (request, stream, head) => sockets?.upgrade(request, stream, head) ?? false,
    async resume() {
      for (const message of await store.openMessages()) resume(message, { answers, questions });
    },
    // The bot sends each snapshot itself, and the last one before it exits.
    flushAnswers: () => Promise.resolve(),
    async settled() {
      statuses.end();
      await Promise.all([questions.tasks.settled(), commands.tasks.settled(), answers.settled()]);
    },
  };
}

interface Parts {
  side: MessengerContext;
  client: EventClient;
  payloads: EventPayloads;
  answers: BotMessages;
  questions: Questions;
}

/**
 * A native stream has Slack's own stop button. If answers are edited, or an answer has not begun, the person types the bot's
 * stop command in the same place.
 * @param messageId the answer's, or the person's own question's
 */
async function stop(parts: Parts, personId: string, messageId: string): Promise<void> {
  const { side, client, payloads, answers, questions } = parts;
  const stopped = await side.store.get(messageId);
  const conversation = side.directory.conversationOf(personId, stopped.conversationId);
  const isAnswer = stopped.sender === 'bot';
  if (!isAnswer && stopped.sender !== personId) throw new MessengerError('not_found', 'No such answer');
  if (isAnswer && (await answers.stopByUser(messageId))) {
    if (side.bot.isReachable()) await client.deliver(payloads.sessionStopped(personId, stopped));
    return;
  }
  const question = isAnswer ? await side.store.get(stopped.slack?.questionId ?? '').catch(() => undefined) : stopped;
  await questions.send({
    person: personId,
    conversationId: conversation.id,
    text: conversation.kind === 'group' ? `@${side.bot.name} stop` : 'stop',
    imageIds: [],
    quoteMessageId: question?.slack?.threadTs === undefined ? undefined : question.id,
  });
}

function resume(message: StoredMessage, { answers, questions }: Pick<Parts, 'answers' | 'questions'>): void {
  if (message.sender === 'bot') answers.follow(message);
  else questions.deliverInBackground(message);
}
