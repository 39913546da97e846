import { hashParts } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import type { Person } from '../directory-file.ts';
import type { Directory } from './directory.ts';
import type { Store } from './store.ts';

const PURPOSE = 'service-person';

export interface PeopleOptions {
  directory: Directory;
  store: Store;
  keyRing: KeyRing;
  /** Whose people are admitted besides the directory's; undefined when the directory's are all. */
  origin: string | undefined;
  /** How long an admitted person is remembered: as long as anything that one sign-in leads to may live. */
  keptMs: number;
}

/**
 * Everybody who can be signed in: the directory's people, and those whom the institution vouched for. The latter are
 * remembered, sealed, as they were at their last sign-in, since applications ask for profiles long after it.
 */
export class People {
  readonly #options: PeopleOptions;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** The directory's entry where there is one, even if it was made after the sign-in. @throws StoreError */
  async byUsername(username: string): Promise<Person | undefined> {
    const { directory, store, origin } = this.#options;
    const listed = directory.byUsername(username);
    if (listed || origin === undefined) return listed;
    const sealed = await store.use((redis) => redis.get(this.#key(origin, username)));
    const admitted = sealed === null ? undefined : this.#open(origin, username, sealed);
    return admitted && (directory.byProfileId(admitted.profile.id) ?? admitted);
  }

  /**
   * Remembers whom the institution vouched for, and tells who that is here: the directory's entry of that username or
   * profile id, else the person as brought. Undefined when username and id belong to two different entries.
   * @throws StoreError
   */
  async admit(person: Person): Promise<Person | undefined> {
    const { directory, store, keyRing, origin = '', keptMs } = this.#options;
    const listed = directory.byUsername(person.username);
    const owner = directory.byProfileId(person.profile.id);
    if (listed || owner) return listed && owner && listed !== owner ? undefined : (listed ?? owner);
    const sealed = keyRing.sealRecord([PURPOSE, origin, person.username], JSON.stringify(person));
    await store.use((redis) => redis.set(this.#key(origin, person.username), sealed, 'PX', keptMs));
    return person;
  }

  /** Whose record is broken or lacks its key has to sign in again. */
  #open(origin: string, username: string, sealed: string): Person | undefined {
    const { keyRing } = this.#options;
    const opened = tryOpenJson(() => keyRing.openRecord([PURPOSE, origin, username], sealed), readPerson);
    return opened.kind === 'opened' ? opened.value : undefined;
  }

  #key(origin: string, username: string): string {
    return this.#options.store.key('person', hashParts(origin, username));
  }
}

function readPerson(value: unknown): Person | undefined {
  const person = recordWith<Person>('username')(value);
  return person && recordWith<Person['profile']>('id')(person.profile) ? person : undefined;
}
