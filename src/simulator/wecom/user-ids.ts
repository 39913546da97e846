import { hmacHex } from '../../shared/crypto/ids.ts';
import type { PersonView } from '../api.ts';
import type { Directory } from '../directory.ts';

export interface UserIdsOptions {
  directory: Directory;
  /** Names senders to the bot by ids that only the platform can resolve, as for bots whose maker is no super administrator. */
  encryptUserIds: boolean;
  idKey: Buffer;
}

/** The ids by which the bot hears of people (PLATFORM_FACTS.md wecom-ids). */
export class UserIds {
  readonly #options: UserIdsOptions;

  constructor(options: UserIdsOptions) {
    this.#options = options;
  }

  /** The id by which the bot hears of a person. */
  idForBot(personId: string): string {
    return this.#options.encryptUserIds ? this.openUserId(personId) : personId;
  }

  /** Whom the bot means by an id. */
  findForBot(id: string): PersonView | undefined {
    return this.#options.encryptUserIds ? this.findByOpenUserId(id) : this.#options.directory.findPerson(id);
  }

  /** The person's encrypted id: stable, and meaningless to all but the platform. */
  openUserId(personId: string): string {
    return `wo${hmacHex(this.#options.idKey, `open_userid|${personId}`).slice(0, 30)}`;
  }

  /** Whose encrypted id this is. */
  findByOpenUserId(openUserId: string): PersonView | undefined {
    return this.#options.directory.people.find((person) => this.openUserId(person.id) === openUserId);
  }
}
