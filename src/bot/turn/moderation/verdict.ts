import type { DeliveryId } from '../../domain/ids.ts';

/** What a text is: a question before it leaves, or an answer before it is shown. */
export type ModeratedKind = 'prompt' | 'answer';

/** `unchecked`: blocked because the service was away. */
export type ModerationVerdict = 'allowed' | 'blocked' | 'unchecked';

/** A blocked text, or one that could not be checked. Contains nothing of the text. */
export interface Moderated {
  kind: ModeratedKind;
  /** What blocked it. `away`: the service was away, and `isAllowed` says what followed. */
  by: 'words' | 'service' | 'away';
  isAllowed: boolean;
  turnId: DeliveryId;
}
