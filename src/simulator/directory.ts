import type { Language } from '../shared/text/texts.ts';
import type { PersonView } from './api.ts';
import { MessengerError } from './messenger-error.ts';

/** A group chat with the bot. */
export interface Group {
  id: string;
  name: string;
  /** User ids of its members. */
  members: string[];
}

/** One person's private chat with the bot, or a group. */
export interface Conversation {
  id: string;
  kind: 'private' | 'group';
  name: string;
  members: PersonView[];
}

export interface DirectoryOptions {
  people: PersonView[];
  groups: Group[];
  botName: string;
}

/** The messenger's users and conversations, fixed at start. Each user's language is known from their open page. */
export class Directory {
  readonly people: readonly PersonView[];
  readonly #conversations = new Map<string, Conversation>();
  /** By person id. */
  readonly #languages = new Map<string, Language>();

  constructor({ people, groups, botName }: DirectoryOptions) {
    this.people = people;
    for (const person of people) {
      const id = privateConversationId(person.id);
      this.#conversations.set(id, { id, kind: 'private', name: botName, members: [person] });
    }
    for (const group of groups) {
      const members = group.members.map((memberId) => this.person(memberId));
      this.#conversations.set(groupConversationId(group.id), {
        id: groupConversationId(group.id),
        kind: 'group',
        name: group.name,
        members,
      });
    }
  }

  /** @throws MessengerError `not_found` */
  person(id: string): PersonView {
    const found = this.people.find((person) => person.id === id);
    if (!found) throw new MessengerError('not_found', 'No such person');
    return found;
  }

  /** Records the language of the person's page. */
  noteLanguage(personId: string, language: Language): void {
    this.#languages.set(this.person(personId).id, language);
  }

  /** Undefined until a page of the person was opened. */
  languageOf(personId: string): Language | undefined {
    return this.#languages.get(personId);
  }

  /** The person with this id, case-insensitively, or undefined. */
  findPerson(id: string): PersonView | undefined {
    return this.people.find((person) => person.id.toLowerCase() === id.toLowerCase());
  }

  /** @throws MessengerError `not_found` */
  conversation(id: string): Conversation {
    const found = this.#conversations.get(id);
    if (!found) throw new MessengerError('not_found', 'No such conversation');
    return found;
  }

  /** A conversation for one of its members; it does not exist for others. @throws MessengerError `not_found` */
  conversationOf(personId: string, id: string): Conversation {
    const conversation = this.conversation(id);
    if (!conversation.members.some((member) => member.id === personId)) {
      throw new MessengerError('not_found', 'No such conversation');
    }
    return conversation;
  }

  conversationsOf(personId: string): Conversation[] {
    this.person(personId);
    const all = [...this.#conversations.values()];
    return all.filter((conversation) => conversation.members.some((member) => member.id === personId));
  }
}

export function privateConversationId(personId: string): string {
  return `private-${personId}`;
}

export function groupConversationId(groupId: string): string {
  return `group-${groupId}`;
}

/** The platform's id of a group, as in `chatid` of callbacks. */
export function chatIdOf(conversation: Conversation): string {
  return conversation.id.slice('group-'.length);
}
