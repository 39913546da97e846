import { InTurn } from './keyed-mutex.ts';
import type { MessageStore } from './message-store.ts';
import type { Protocol, Saying } from './protocol.ts';
import type { StoredMessage } from './stored-message.ts';

/**
 * Sends what a page asks for, once for each name that the page gave it: a page that got no answer asks again, and both askings
 * may be carried out at the same time when a process that stood still goes on.
 */
export class SendOnce {
  readonly #store: MessageStore;
  readonly #protocol: Pick<Protocol, 'send'>;
  readonly #inTurn = new InTurn();

  constructor(store: MessageStore, protocol: Pick<Protocol, 'send'>) {
    this.#store = store;
    this.#protocol = protocol;
  }

  /** @returns the message as it is now. @throws MessengerError as `Protocol.send` */
  send(saying: Saying): Promise<StoredMessage> {
    const { person, clientId } = saying;
    if (clientId === undefined) return this.#protocol.send(saying);
    return this.#inTurn.run(
      JSON.stringify([person, clientId]),
      async () => (await this.#store.sentAs(person, clientId)) ?? this.#protocol.send(saying),
    );
  }
}
