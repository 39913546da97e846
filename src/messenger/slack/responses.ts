import { randomToken } from '../../base/ids.ts';
import { MINUTE_MS } from '../../base/clock.ts';
import type { MessengerSide } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { textOf, type CallArguments } from './call-arguments.ts';
import { messageWords } from './message-words.ts';
import { SlackFault } from './slack-fault.ts';
import { channelIdOf, messageIdOf, type TsClock, type Workspace } from './workspace.ts';
import { shownText } from './written-text.ts';

/** How often, and for how long, a command may be answered by its address (PLATFORM_FACTS.md slack-assistant). */
const MOST_USES = 5;
const LIFE_MS = 30 * MINUTE_MS;

interface Awaited {
  question: StoredMessage;
  untilMs: number;
  uses: number;
}

/** What came of a use: an HTTP status, and Slack's word for it. */
export interface ResponseResult {
  status: 200 | 404 | 400;
  body: string;
}

/** The addresses at which commands are answered; without a token, so each holds a secret. They do not outlive a run, as in Slack they hardly do. */
export class Responses {
  readonly #side: MessengerSide;
  readonly #slack: { workspace: Workspace; clock: TsClock };
  readonly #awaited = new Map<string, Awaited>();

  constructor(side: MessengerSide, slack: { workspace: Workspace; clock: TsClock }) {
    this.#side = side;
    this.#slack = slack;
  }

  create(question: StoredMessage): string {
    const { nowMs, url } = this.#side;
    for (const [code, { untilMs }] of this.#awaited) if (untilMs <= nowMs()) this.#awaited.delete(code);
    const code = randomToken(24);
    this.#awaited.set(code, { question, untilMs: nowMs() + LIFE_MS, uses: 0 });
    return `${url()}/commands/${code}`;
  }

  /** Shows what the app answers: to all of the channel where it says so, else to whoever typed the command. */
  async show(code: string, read: () => CallArguments): Promise<ResponseResult> {
    const { nowMs, trace } = this.#side;
    const awaited = this.#awaited.get(code);
    if (!awaited || awaited.untilMs <= nowMs()) return { status: 404, body: 'expired_url' };
    if (awaited.uses >= MOST_USES) return { status: 404, body: 'used_url' };
    try {
      const args = read();
      const { markdown, note } = messageWords(args, 'post');
      awaited.uses += 1;
      await this.#write(awaited.question, {
        text: markdown,
        note,
        isForAll: textOf(args, 'response_type') === 'in_channel',
      });
      return { status: 200, body: 'ok' };
    } catch (error) {
      if (!(error instanceof SlackFault)) throw error;
      trace.violated({ questionId: awaited.question.id, reason: `response_url: ${error.code}`, atMs: nowMs() });
      return { status: 400, body: error.code };
    }
  }

  async #write(
    question: StoredMessage,
    { text, note, isForAll }: { text: string; note: string; isForAll: boolean },
  ): Promise<void> {
    const { chatLog, directory, bot, nowMs } = this.#side;
    const { workspace, clock } = this.#slack;
    const ts = clock.next();
    await chatLog.write({
      id: messageIdOf(channelIdOf(directory.conversation(question.conversationId)), ts),
      conversationId: question.conversationId,
      sender: 'bot',
      senderName: bot.name,
      state: 'final',
      text: shownText(text, workspace, bot.name),
      images: [],
      atMs: nowMs(),
      note: note === '' ? undefined : note,
      onlyFor: isForAll ? undefined : question.sender,
      slack: { ts, questionId: question.id, isCommand: true },
    });
  }
}
