import { MINUTE_MS } from '../../shared/clock.ts';
import type { MessengerContext } from '../protocol.ts';
import { ShortLivedSecrets } from '../short-lived-secrets.ts';
import type { StoredMessage } from '../stored-message.ts';
import { writeEphemeral } from './ephemeral-messages.ts';
import type { BotMessages } from './bot-messages.ts';
import { flagOf, textOf, tsOf, type CallArguments } from './call-arguments.ts';
import { readMessageContent } from './message-words.ts';
import { SlackFault } from './slack-fault.ts';
import type { TsClock, Workspace } from './workspace.ts';

/** How often, and for how long, a response URL may be used (PLATFORM_FACTS.md slack-assistant). */
const MAX_USES = 5;
const LIFE_MS = 30 * MINUTE_MS;

interface Awaited {
  conversationId: string;
  /** The person who typed the command or clicked. */
  personId: string;
  /** The command. */
  questionId?: string;
  /** The message that was clicked. */
  clickedId?: string;
  uses: number;
}

/** Result of a use: an HTTP status, and Slack's error code. */
export interface ResponseResult {
  status: 200 | 404 | 400;
  body: string;
}

interface Parts {
  workspace: Workspace;
  clock: TsClock;
  answers: BotMessages;
}

/**
 * Response URLs of commands and clicks. They need no token, so each contains a secret. They do not survive a restart; in
 * Slack they are short-lived too.
 */
export class Responses {
  readonly #side: MessengerContext;
  readonly #slack: Parts;
  readonly #awaited: ShortLivedSecrets<Awaited>;

  constructor(side: MessengerContext, slack: Parts) {
    this.#side = side;
    this.#slack = slack;
    this.#awaited = new ShortLivedSecrets(side.nowMs, LIFE_MS);
  }

  /** Response URL for a command. */
  create({ id, conversationId, sender }: StoredMessage): string {
    return `${this.#side.url()}/commands/${this.#awaited.issue({ conversationId, personId: sender, questionId: id, uses: 0 })}`;
  }

  /** Response URL for a click on a message. */
  createForClick({ id, conversationId }: StoredMessage, personId: string): string {
    return `${this.#side.url()}/actions/${this.#awaited.issue({ conversationId, personId, clickedId: id, uses: 0 })}`;
  }

  /**
   * Handles the app's response: changes or deletes the message that was clicked, or shows another one, to the whole channel
   * if requested, otherwise only to the person who clicked or typed the command.
   */
  async show(code: string, read: () => CallArguments): Promise<ResponseResult> {
    const awaited = this.#awaited.find(code);
    if (!awaited) return { status: 404, body: 'expired_url' };
    if (awaited.uses >= MAX_USES) return { status: 404, body: 'used_url' };
    try {
      await this.#carryOut(awaited, read());
      awaited.uses += 1;
      return { status: 200, body: 'ok' };
    } catch (error) {
      if (!(error instanceof SlackFault)) throw error;
      this.#side.trace.recordViolation(`response_url: ${error.code}`, awaited.questionId);
      return { status: 400, body: error.code };
    }
  }

  async #carryOut({ conversationId, personId, questionId, clickedId }: Awaited, args: CallArguments): Promise<void> {
    const { answers } = this.#slack;
    if (clickedId !== undefined && flagOf(args, 'delete_original')) return answers.remove(clickedId);
    const words = readMessageContent(args, 'post');
    if (clickedId !== undefined && flagOf(args, 'replace_original')) {
      await answers.replace(clickedId, words);
      return;
    }
    const isForAll = textOf(args, 'response_type') === 'in_channel';
    await writeEphemeral(this.#side, this.#slack, {
      conversation: this.#side.directory.conversation(conversationId),
      words,
      onlyFor: isForAll ? undefined : personId,
      threadTs: tsOf(args, 'thread_ts'),
      questionId,
      isOfChannel: isForAll && clickedId !== undefined,
    });
  }
}
