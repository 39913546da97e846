import { randomToken } from '../../shared/crypto/ids.ts';
import { languageOfText, localize } from '../../shared/text/texts.ts';
import { BackgroundTasks } from '../background-tasks.ts';
import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext, UserMessage } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { EventClient } from './event-client.ts';
import type { EventPayloads } from './event-payload.ts';
import type { Responses } from './responses.ts';
import { channelIdOf, messageIdOf, type TsClock } from './workspace.ts';

/** The command that the app's administrator has registered. */
const OWN_COMMAND = 'parley';
const COMMAND = /^\/(?<name>\S*)(?<text>(?:\s[\s\S]*)?)$/;

export interface CommandParts {
  client: EventClient;
  payloads: EventPayloads;
  clock: TsClock;
  responses: Responses;
}

/**
 * Messages that begin with a slash. Slack treats each as a command: one that an app has registered is sent to that app as a
 * form, any other is rejected where it was typed. Neither is visible to other people or becomes a message of the channel.
 */
export class Commands {
  readonly #side: MessengerContext;
  readonly #parts: CommandParts;
  /** Deliveries. */
  readonly tasks: BackgroundTasks;

  constructor(side: MessengerContext, parts: CommandParts) {
    this.#side = side;
    this.#parts = parts;
    this.tasks = new BackgroundTasks(side.background);
  }

  /** A leading blank makes it a message. */
  isCommand({ text }: Pick<UserMessage, 'text'>): boolean {
    return text.startsWith('/');
  }

  /** @throws MessengerError `not_found` */
  async send(saying: UserMessage): Promise<StoredMessage> {
    const { directory, nowMs, chatLog } = this.#side;
    const person = directory.person(saying.person);
    const conversation = directory.conversationOf(saying.person, saying.conversationId);
    const ts = this.#parts.clock.next();
    const message: StoredMessage = {
      id: messageIdOf(channelIdOf(conversation), ts),
      conversationId: conversation.id,
      sender: person.id,
      senderName: person.name,
      state: 'sent',
      text: saying.text,
      images: [],
      atMs: nowMs(),
      clientId: saying.clientId,
      onlyFor: person.id,
      slack: { ts, isCommand: true },
    };
    const shown = await this.#carryOut(message);
    await chatLog.markRead(person.id, conversation.id);
    return shown;
  }

  /** Types a failed command again. @throws MessengerError `bad_request` */
  async resend(message: StoredMessage): Promise<StoredMessage> {
    if (message.state !== 'failed') throw new MessengerError('bad_request', 'Only a failed message can be sent again');
    const { error: _error, ...again } = message;
    return this.#carryOut({ ...again, state: 'sent' });
  }

  async #carryOut(message: StoredMessage): Promise<StoredMessage> {
    const { name = '', text: written = '' } = COMMAND.exec(message.text)?.groups ?? {};
    const text = written.trimStart();
    const isKnown = name.toLowerCase() === OWN_COMMAND;
    const shown = isKnown ? message : { ...message, ...this.#refusal(message.text, name) };
    await this.#side.chatLog.write(shown);
    if (isKnown) this.#deliver(message, text);
    return shown;
  }

  #refusal(text: string, name: string): Pick<StoredMessage, 'state' | 'error'> {
    const error = localize(MESSENGER_TEXTS.noCommand, languageOfText(text), { name: `/${name}` });
    return { state: 'failed', error };
  }

  /** A command is sent once. If the app does not acknowledge it within three seconds it has failed, and Slack says so. */
  #deliver(message: StoredMessage, text: string): void {
    const { chatLog } = this.#side;
    const { client, payloads, responses } = this.#parts;
    const deliver = async () => {
      const responseUrl = responses.create(message);
      const form = payloads.commandForm(message, { text, responseUrl, triggerId: randomToken(12) });
      const { kind } = await client.deliverForm(form);
      if (kind === 'silent') return;
      const failed = kind === 'refused' ? MESSENGER_TEXTS.botRefused : MESSENGER_TEXTS.botUnreachable;
      await chatLog.write({ ...message, state: 'failed', error: localize(failed, languageOfText(message.text)) });
    };
    this.tasks.add(deliver(), 'a command could not be delivered');
  }
}
