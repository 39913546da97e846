import type { ServicePerson } from '../directory-file.ts';

/** Looks people up by the names that sign-in knows. */
export class Directory {
  readonly #byUsername: ReadonlyMap<string, ServicePerson>;
  readonly #byWecomId: ReadonlyMap<string, ServicePerson>;

  constructor(people: readonly ServicePerson[]) {
    this.#byUsername = new Map(people.map((person) => [person.username, person]));
    this.#byWecomId = new Map(
      people.flatMap((person) => (person.messaging.wecom ? [[person.messaging.wecom.toLowerCase(), person]] : [])),
    );
  }

  byUsername(username: string): ServicePerson | undefined {
    return this.#byUsername.get(username);
  }

  /** The platform treats its user ids as the same in upper and lower case. */
  byWecomId(userId: string): ServicePerson | undefined {
    return this.#byWecomId.get(userId.toLowerCase());
  }
}
