import type { ServicePerson } from '../directory-file.ts';

/** Finds people by the names that the sign-in uses. */
export class Directory {
  readonly #byUsername: ReadonlyMap<string, ServicePerson>;
  readonly #byProfileId: ReadonlyMap<string, ServicePerson>;
  readonly #byMessagingId: ReadonlyMap<string, ServicePerson>;

  constructor(people: readonly ServicePerson[]) {
    this.#byUsername = new Map(people.map((person) => [person.username, person]));
    this.#byProfileId = new Map(people.map((person) => [person.profile.id, person]));
    this.#byMessagingId = new Map(
      people.flatMap((person) =>
        Object.entries(person.messaging).flatMap(([app, userId]) => [
          [messagingKey(app, userId, false), person],
          [messagingKey(app, userId, true), person],
        ]),
      ),
    );
  }

  get isEmpty(): boolean {
    return this.#byUsername.size === 0;
  }

  byUsername(username: string): ServicePerson | undefined {
    return this.#byUsername.get(username);
  }

  byProfileId(id: string): ServicePerson | undefined {
    return this.#byProfileId.get(id);
  }

  /** @param ignoresCase whether the app treats its user ids as case-insensitive */
  byMessagingId(app: string, userId: string, ignoresCase: boolean): ServicePerson | undefined {
    return this.#byMessagingId.get(messagingKey(app, userId, ignoresCase));
  }

  /** Whether any person has an id in this messaging app. */
  knowsUsersOf(app: string): boolean {
    return [...this.#byUsername.values()].some(({ messaging }) => messaging[app] !== undefined);
  }
}

function messagingKey(app: string, userId: string, ignoresCase: boolean): string {
  return JSON.stringify([app, ignoresCase, ignoresCase ? userId.toLowerCase() : userId]);
}
