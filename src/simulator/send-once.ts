import { KeyedMutex } from './keyed-mutex.ts';
import type { MessageStore } from './message-store.ts';
import type { Protocol, UserMessage } from './protocol.ts';
import type { StoredMessage } from './stored-message.ts';

/**
 * Sends a page's message once per client id: a page without a response retries, and both requests may be handled at the same
 * time when a suspended process resumes.
 */
export class IdempotentSender {
  readonly #store: MessageStore;
  readonly #protocol: Pick<Protocol, 'send'>;
  readonly #mutex = new KeyedMutex();

  constructor(store: MessageStore, protocol: Pick<Protocol, 'send'>) {
    this.#store = store;
    this.#protocol = protocol;
  }

  /** @returns the current state of the message. @throws MessengerError like `Protocol.send` */
  send(saying: UserMessage): Promise<StoredMessage> {
    const { person, clientId } = saying;
    if (clientId === undefined) return this.#protocol.send(saying);
    return this.#mutex.run(
      JSON.stringify([person, clientId]),
      async () => (await this.#store.findByClientId(person, clientId)) ?? this.#protocol.send(saying),
    );
  }
}
