import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { recordWith, tryOpenJsonOfAny, type Opened } from '../../../shared/crypto/decrypt-record.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import type { DeliveryId } from '../../domain/ids.ts';

/** What follows an answer that its live message could not hold. The commit of the turn writes it, sealed, beside the last snapshot. */
export interface FollowUp {
  version: 1;
  platform: PlatformName;
  /** Who asked: nobody else is written to. */
  userId: string;
  /** The asker's private conversation, where the next reply begins with what could be brought no other way. */
  privateChat: ConversationRef;
  /** The platform's own way to answer the message later, good for one post. */
  handle: string;
  /** How old the message was at the commit; the handle's life counts from there. Milliseconds. */
  handleAgeMs: number;
  /** What is to be shown, in pieces that each fit one message. */
  pieces: string[];
  /** All of the answer, where it is to be a file; the pieces are for where it cannot be. */
  file?: string;
  /** Whether it is all of the answer; else its beginning stands in the live message. */
  isWhole: boolean;
  language: Language;
}

const PURPOSE = 'follow-up';
/** One with a file opens to no version that knows of none: it would say in messages what stands in a file. */
const FILE_PURPOSE = 'follow-up-file';

/** @param deliveryId of the message that is answered */
export function sealFollowUp(keyRing: KeyRing, deliveryId: DeliveryId, followUp: FollowUp): string {
  return keyRing.seal(followUp.file === undefined ? PURPOSE : FILE_PURPOSE, deliveryId, JSON.stringify(followUp));
}

/** Opens what `sealFollowUp` made. */
export function openFollowUp(keyRing: KeyRing, deliveryId: DeliveryId, sealed: string): Opened<FollowUp> {
  const open = (purpose: string) => keyRing.open(purpose, deliveryId, sealed);
  return tryOpenJsonOfAny([PURPOSE, FILE_PURPOSE], open, readFollowUp);
}

function readFollowUp(value: unknown): FollowUp | undefined {
  const followUp = recordWith<FollowUp>('platform', 'userId', 'handle')(value);
  return Array.isArray(followUp?.pieces) ? followUp : undefined;
}
