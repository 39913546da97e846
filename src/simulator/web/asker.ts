import { MINUTE_MS } from '../../shared/clock.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { Bootstrap, ConversationView, MessageView, PersonView } from '../api.ts';

/** The sender id of the bot's messages. */
export const BOT_SENDER = 'bot';
/** The sender id of quiet centred lines. */
export const SYSTEM_SENDER = 'system';

/** Whether a text mentions a name with `@`, whatever the letters' case. */
export function mentions(text: string, name: string): boolean {
  return text.toLocaleLowerCase().includes(`@${name.toLocaleLowerCase()}`);
}

/**
 * Who asked for an answer: in a private chat its person, in a group the last person who mentioned the bot before it.
 * The server does not say it, and "Stop" is offered to the asker alone (only theirs is obeyed in a group).
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

/** So long a platform without a state of its own for it lets one wait. */
const WAITS_FOR_MS = 2 * MINUTE_MS;

/**
 * The person's own question that has no answer yet, where the platform itself says nothing of that (Slack): it is the newest
 * message, and the bot is meant.
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
  // What was taken back is waited for by nobody.
  if (newest.isDeleted === true) return undefined;
  const isForBot = conversation.kind === 'private' || mentions(newest.text, bootstrap.botName);
  return isForBot && nowMs - newest.atMs < WAITS_FOR_MS ? newest : undefined;
}

/** What stops the running answer when the asker says it in that conversation, as the bot names it to them. */
export function stopText(kind: ConversationView['kind'], botName: string, language: Language): string {
  const word = language === 'zh' ? '停止' : '/stop';
  return kind === 'group' ? `@${botName} ${word}` : word;
}

/** Whether a person wrote it. */
export function isPersons(message: MessageView): boolean {
  return message.sender !== BOT_SENDER && message.sender !== SYSTEM_SENDER;
}
