import type { ConversationRef } from '../../src/bot/domain/conversation.ts';
import { TurnStore, type TurnStoreOptions } from '../../src/bot/queue/turn-store.ts';
import { type TurnClaim } from '../../src/bot/domain/turn.ts';

/** A store of many workers: each claim belongs to another one, after the previous claim has expired, as after a crash. */
export class DyingWorkersStore extends TurnStore {
  readonly #ofEach: TurnStoreOptions;

  constructor(options: TurnStoreOptions) {
    super(options);
    this.#ofEach = { ...options, claimLifeMs: 0 };
  }

  override begin(conversation: ConversationRef): Promise<TurnClaim | undefined> {
    return new TurnStore(this.#ofEach).begin(conversation);
  }
}
