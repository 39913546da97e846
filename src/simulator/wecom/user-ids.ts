import type { KeyObject } from 'node:crypto';
import { hmacHex } from '../../shared/crypto/ids.ts';
import type { PersonView } from '../api.ts';
import type { Directory } from '../directory.ts';

export interface UserIdsOptions {
  directory: Directory;
  /**
   * Sends the bot encrypted ids that only the platform can resolve, as for bots whose creator is not a super administrator.
   */
  encryptUserIds: boolean;
  idKey: KeyObject;
}

/** Ids of people for the bot (PLATFORM_FACTS.md wecom-ids). */
export class UserIds {
  readonly #options: UserIdsOptions;

  constructor(options: UserIdsOptions) {
    this.#options = options;
  }

  /** A person's id for the bot. */
  idForBot(personId: string): string {
    return this.#options.encryptUserIds ? this.openUserId(personId) : personId;
  }

  /** The person for an id from the bot. */
  findForBot(id: string): PersonView | undefined {
    return this.#options.encryptUserIds ? this.findByOpenUserId(id) : this.#options.directory.findPerson(id);
  }

  /** The person's encrypted id: stable, and only meaningful to the platform. */
  openUserId(personId: string): string {
    return `wo${hmacHex(this.#options.idKey, `open_userid|${personId}`).slice(0, 30)}`;
  }

  /** The person with this encrypted id. */
  findByOpenUserId(openUserId: string): PersonView | undefined {
    return this.#options.directory.people.find((person) => this.openUserId(person.id) === openUserId);
  }
}
