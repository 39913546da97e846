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
  /** Identifies the provider whose people are accepted in addition to the directory; undefined if there is none. */
  origin: string | undefined;
  /** Maximum lifetime of anything that results from one sign-in; the person is stored for that time. */
  keptMs: number;
}

/**
 * Everyone who can sign in: the people of the directory, and those whom the institution's provider has identified. The
 * latter are stored, sealed, as of their last sign-in, because applications request profiles long after it.
 */
export class People {
  readonly #options: PeopleOptions;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** The directory's entry takes precedence, even if it was created after the sign-in. @throws StoreError */
  async byUsername(username: string): Promise<Person | undefined> {
    const { directory, store, origin } = this.#options;
    const listed = directory.byUsername(username);
    if (listed || origin === undefined) return listed;
    const sealed = await store.use((redis) => redis.get(this.#key(origin, username)));
    const admitted = sealed === null ? undefined : this.#open(origin, username, sealed);
    return admitted && (directory.byProfileId(admitted.profile.id) ?? admitted);
  }

  /**
   * Stores a person identified by the institution's provider, and returns the local person: the directory's entry with that
   * username or profile id, otherwise the given person. Undefined if username and id belong to two different entries.
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

  /** A person whose record is broken or whose key is missing must sign in again. */
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
