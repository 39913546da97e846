import type { ConversationView, MessageView } from '../api.ts';

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

/** What stops the running answer when the asker says it in that conversation. */
export function stopText(kind: ConversationView['kind'], botName: string): string {
  return kind === 'group' ? `@${botName} /stop` : '/stop';
}

function isPersons(message: MessageView): boolean {
  return message.sender !== BOT_SENDER && message.sender !== SYSTEM_SENDER;
}
