import type { ConversationRef } from '../../src/bot/domain/conversation.ts';
import { TurnStore, type TurnStoreOptions } from '../../src/bot/queue/turn-store.ts';
import { type TurnClaim } from '../../src/bot/domain/turn.ts';

/** The store of many workers: each claim is another's, made once the claim before it has run out, as after a crash. */
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
