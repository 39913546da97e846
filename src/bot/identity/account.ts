import type { Language } from '../../shared/text/texts.ts';
import { recordWith } from '../../shared/crypto/decrypt-record.ts';
import { personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { PersonId } from '../domain/ids.ts';

/** Within which platform, tenant and app a chat user id means somebody. */
export interface PersonOwner {
  platform: PlatformName;
  tenant: string;
  app: string;
}

/** A person as the chat knows them. */
export interface ChatPerson extends PersonOwner {
  chatUserId: string;
  /** The language of the chat in which sign-in was asked for, where it is known. */
  language?: Language;
}

/** Reads a chat person that was kept sealed. */
export const readChatPerson = recordWith<ChatPerson>('platform', 'tenant', 'app', 'chatUserId');

/** What a link's commit asks for: the messages that this conversation holds can be answered now. */
export interface Release {
  id: string;
  conversation: ConversationRef;
  /** Whose messages they are; absent where an older version made the link. */
  personId?: PersonId;
}

/** Something a person has to be told in their private chat. `name` and `maskedId` are the account's. */
export type IdentityNotice =
  | { kind: 'linked'; name: string; maskedId: string; atMs: number }
  | { kind: 'someone-else-signed-in' }
  | { kind: 'account-wanted-elsewhere' }
  | { kind: 'code-seen-in-group' }
  | { kind: 'sign-in-again' }
  /** A failover took a finished sign-in back, and it could not be made again. */
  | { kind: 'sign-in-lost' }
  | { kind: 'suspended' };

/** Tells a person something in their private chat, in the background. */
export type Tell = (person: ChatPerson, notice: IdentityNotice) => void;

/** Hands a release on, in the background. */
export type HandOnRelease = (release: Release) => void;

/** The pseudonym under which a person's records are kept. */
export function personKey(person: PersonOwner & { chatUserId: string }): PersonId {
  return personIdOf(person, person.chatUserId);
}
