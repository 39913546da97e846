import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { recordWith, tryOpenJsonOfAny, type OpenResult } from '../../../shared/crypto/decrypt-record.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import type { DeliveryId } from '../../domain/ids.ts';

/**
 * The remainder of an answer that its live message could not hold. The turn's commit writes it, sealed, with the final
 * snapshot.
 */
export interface FollowUp {
  version: 1;
  platform: PlatformName;
  /** The asker, the only recipient. */
  userId: string;
  /** The asker's private conversation. If the text cannot be delivered, the next reply there begins with it. */
  privateChat: ConversationRef;
  /** The platform's handle for a later answer to the message. */
  handle: string;
  /** Age of the message at the commit; the handle's lifetime counts from the message. Milliseconds. */
  handleAgeMs: number;
  /** The text, in pieces that each fit one message. */
  pieces: string[];
  /** The complete answer, if it is sent as a file; `pieces` is the fallback. */
  file?: string;
  /** True for a complete answer; false if the live message shows its beginning. */
  isWhole: boolean;
  /** The line beside a complete answer, such as the mark that it is AI-generated. The live message shows that of a remainder. */
  status?: string;
  language: Language;
}

const PURPOSE = 'follow-up';
/** A separate purpose, so that versions without file support cannot open the follow-up and send it as messages. */
const FILE_PURPOSE = 'follow-up-file';

/** @param deliveryId of the answered message */
export function sealFollowUp(keyRing: KeyRing, deliveryId: DeliveryId, followUp: FollowUp): string {
  return keyRing.seal(followUp.file === undefined ? PURPOSE : FILE_PURPOSE, deliveryId, JSON.stringify(followUp));
}

/** Opens the result of `sealFollowUp`. */
export function openFollowUp(keyRing: KeyRing, deliveryId: DeliveryId, sealed: string): OpenResult<FollowUp> {
  const open = (purpose: string) => keyRing.open(purpose, deliveryId, sealed);
  return tryOpenJsonOfAny([PURPOSE, FILE_PURPOSE], open, readFollowUp);
}

function readFollowUp(value: unknown): FollowUp | undefined {
  const followUp = recordWith<FollowUp>('platform', 'userId', 'handle')(value);
  return Array.isArray(followUp?.pieces) ? followUp : undefined;
}
