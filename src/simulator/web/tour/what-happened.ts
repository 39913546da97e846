import type { ConversationView } from '../../api.ts';
import { BOT_SENDER, mentions, SYSTEM_SENDER } from '../asker.ts';
import type { LoggedMessage, MessageLog } from '../message-log.ts';

/** The steps of the tour, in the recommended order. */
export const STEPS = ['ask', 'signIn', 'mention', 'image', 'stop', 'tryAgain', 'second', 'kill'] as const;
export type Step = (typeof STEPS)[number];

export interface SeenPlaces {
  logs: Readonly<Record<string, MessageLog>>;
  conversations: readonly ConversationView[];
  personId: string;
  botName: string;
}

const LINK = /\/link\/[\w-]+/;
const RETRY = /^\/?(retry|重试)\s*$/;
const SLASH = /^(\/|(帮助|停止|重试|我是谁|登录|解绑)\s*$)/;
const STOPPED = /Stopped\.|已停止/;

/** Steps that have happened according to a person's conversations; explanations of the tour do not count. */
export function stepsSeen({ logs, conversations, personId, botName }: SeenPlaces): Step[] {
  return [
    ...new Set(
      conversations.flatMap(({ id, kind }) => {
        const log = logs[id] ?? [];
        const own = log.filter((message) => message.sender === personId && message.state === 'sent');
        const isPrivate = kind === 'private';
        const found: Record<Exclude<Step, 'second' | 'kill'>, boolean> = {
          ask: isPrivate && own.length > 0,
          signIn: isPrivate && hasOwnAnswer(log, personId),
          mention: !isPrivate && own.some(({ text }) => mentions(text, botName)),
          image: own.some(({ images }) => images.length > 0),
          stop: log.some(wasStopped),
          tryAgain: own.some(({ text }) => RETRY.test(withoutMention(text, botName))),
        };
        return STEPS.filter((step) => step in found && found[step as keyof typeof found]);
      }),
    ),
  ];
}

/** An own question that the model has begun to answer, which shows that the person is signed in. */
function hasOwnAnswer(log: MessageLog, personId: string): boolean {
  const asked = log.findIndex(
    ({ sender, text, state }) => sender === personId && state === 'sent' && !SLASH.test(text),
  );
  return asked >= 0 && log.slice(asked + 1).some(isAnswer);
}

/** An answer of the model, growing or complete; an invitation to sign in is not one. */
export function isAnswer({ sender, text }: LoggedMessage): boolean {
  return sender === BOT_SENDER && text.trim() !== '' && !LINK.test(text);
}

/** An answer that grows. */
export function isGrowing(message: LoggedMessage): boolean {
  return message.state === 'streaming' && isAnswer(message);
}

/** Number of bot messages that answer the question before this one. */
export function answersBeside(log: MessageLog, messageId: string): number {
  const at = log.findIndex(({ id }) => id === messageId);
  const isPersons = ({ sender }: LoggedMessage) => sender !== BOT_SENDER && sender !== SYSTEM_SENDER;
  const from = log.slice(0, at).findLastIndex(isPersons);
  const until = log.findIndex((message, index) => index > at && isPersons(message));
  return log.slice(from + 1, until < 0 ? undefined : until).filter(isAnswer).length;
}

/** An answer that a person stopped before it was complete. */
export function wasStopped({ sender, state, text, note = '', thinking = '' }: LoggedMessage): boolean {
  return sender === BOT_SENDER && state === 'final' && [text, note, thinking].some((part) => STOPPED.test(part));
}

function withoutMention(text: string, botName: string): string {
  return text.replace(`@${botName}`, '').trim();
}
