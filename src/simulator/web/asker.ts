import { MINUTE_MS } from '../../shared/clock.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { Bootstrap, ConversationView, MessageView, PersonView } from '../api.ts';

/** Sender id of the bot's messages. */
export const BOT_SENDER = 'bot';
/** Sender id of centered system lines. */
export const SYSTEM_SENDER = 'system';

/** Whether a text mentions a name with `@`, case-insensitively. */
export function mentions(text: string, name: string): boolean {
  return text.toLocaleLowerCase().includes(`@${name.toLocaleLowerCase()}`);
}

/**
 * The person who asked for an answer: in a private chat its person, in a group the last person who mentioned the bot before
 * it. The server does not report it. "Stop" is shown only to this person, because in a group only theirs takes effect.
 */
export function askerOf(
  answer: MessageView,
  messages: readonly MessageView[],
  conversation: ConversationView,
  botName: string,
): string | undefined {
  if (conversation.kind === 'private') return conversation.members[0]?.id;
  const before = messages.slice(
    0,
    messages.findIndex((message) => message.id === answer.id),
  );
  return before.findLast((message) => isPersons(message) && mentions(message.text, botName))?.sender;
}

/** How long to show a question as waiting, on a platform without such a state. */
const WAITS_FOR_MS = 2 * MINUTE_MS;

/**
 * The person's own unanswered question, on a platform that does not report this (Slack): it is the newest message and
 * addressed to the bot.
 */
export function waitingQuestion<Message extends MessageView>(
  log: readonly Message[],
  {
    person,
    bootstrap,
    conversation,
    nowMs,
  }: { person: PersonView; bootstrap: Bootstrap; conversation: ConversationView; nowMs: number },
): Message | undefined {
  const newest = log.at(-1);
  if (bootstrap.protocol !== 'slack' || newest?.sender !== person.id || newest.state !== 'sent') return undefined;
  // A deleted question gets no answer.
  if (newest.isDeleted === true) return undefined;
  const isForBot = conversation.kind === 'private' || mentions(newest.text, bootstrap.botName);
  return isForBot && nowMs - newest.atMs < WAITS_FOR_MS ? newest : undefined;
}

/** The stop command for the asker in that conversation, as the bot names it. */
export function stopText(kind: ConversationView['kind'], botName: string, language: Language): string {
  const word = language === 'zh' ? '停止' : '/stop';
  return kind === 'group' ? `@${botName} ${word}` : word;
}

/** Whether a person sent the message. */
export function isPersons(message: MessageView): boolean {
  return message.sender !== BOT_SENDER && message.sender !== SYSTEM_SENDER;
}
