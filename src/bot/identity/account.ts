import type { Language } from '../../shared/text/texts.ts';
import { recordWith } from '../../shared/crypto/decrypt-record.ts';
import { personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { PersonId } from '../domain/ids.ts';

/** The platform, tenant and app in which a chat user id is unique. */
export interface PersonOwner {
  platform: PlatformName;
  tenant: string;
  app: string;
}

/** A chat user. */
export interface ChatPerson extends PersonOwner {
  chatUserId: string;
  /** Language of the chat in which sign-in was requested, if known. */
  language?: Language;
}

/** Parses a decrypted chat person. */
export const readChatPerson = recordWith<ChatPerson>('platform', 'tenant', 'app', 'chatUserId');

/** Created with a link: the held messages of this conversation can now be answered. */
export interface Release {
  id: string;
  conversation: ConversationRef;
  /** Owner of the messages; absent if an older version created the link. */
  personId?: PersonId;
}

/** A notification for the user's private chat. `name` and `maskedId` are the account's. */
export type IdentityNotice =
  | { kind: 'linked'; name: string; maskedId: string; atMs: number }
  | { kind: 'someone-else-signed-in' }
  | { kind: 'account-wanted-elsewhere' }
  | { kind: 'code-seen-in-group' }
  | { kind: 'sign-in-again' }
  /** A failover lost a completed sign-in, and it could not be restored. */
  | { kind: 'sign-in-lost' }
  | { kind: 'suspended' };

/** Notifies a user in their private chat, in the background. */
export type NotifyPerson = (person: ChatPerson, notice: IdentityNotice) => void;

/** Passes on a release, in the background. */
export type ReleaseHandler = (release: Release) => void;

/** The pseudonym under which a person's records are stored. */
export function personKey(person: PersonOwner & { chatUserId: string }): PersonId {
  return personIdOf(person, person.chatUserId);
}
