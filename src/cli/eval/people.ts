import type { ServicePerson } from '../../service/directory-file.ts';
import type { Question } from './questions-file.ts';

/** A person who asks, and whether they sign in first. */
export interface Asker {
  userId: string;
  isLinked: boolean;
}

const UNLINKED = 'unlinked';
const DESCRIBED = /^(?<code>JG|XS|QT)(?:\s+(?<department>\S+))?$/i;

/**
 * Determines who asks each question: people of the directory, or made-up ones if it has no match for `JG 3100`, and for
 * questions of unlinked users.
 * @returns the directory including made-up people, and the asker of each question; `undefined` if none matches
 */
export function peopleOf(
  directory: readonly ServicePerson[],
  questions: readonly Question[],
): { directory: ServicePerson[]; askerOf(question: Pick<Question, 'as'>): Asker | undefined } {
  const everybody = [...directory];
  const known = new Map<string, Asker>();
  const strangers = new Map<Pick<Question, 'as'>, Asker>();
  const add = (person: ServicePerson, isLinked: boolean): Asker => {
    if (!everybody.includes(person)) everybody.push(person);
    return { userId: person.messaging['wecom'] ?? '', isLinked };
  };
  for (const [number, question] of questions.entries()) {
    const { as = '' } = question;
    // An unlinked user can have one open question only, so each is asked by another one.
    if (as.toLowerCase() === UNLINKED) strangers.set(question, add(madeUp('QT', '', number), false));
    else if (!known.has(as)) {
      const { code, department = '' } = DESCRIBED.exec(as)?.groups ?? {};
      const found = find(everybody, as) ?? (code === undefined ? undefined : madeUp(code, department, number));
      if (found) known.set(as, add(found, true));
    }
  }
  return { directory: everybody, askerOf: (question) => strangers.get(question) ?? known.get(question.as ?? '') };
}

function find(people: readonly ServicePerson[], as: string): ServicePerson | undefined {
  const usable = people.filter(({ messaging, profile }) => messaging['wecom'] !== undefined && profile.active);
  if (as === '') return usable[0];
  const { code, department } = DESCRIBED.exec(as)?.groups ?? {};
  if (code === undefined)
    return usable.find(({ username, messaging, profile: { id, attributes } }) =>
      [username, messaging['wecom'], id, attributes.XM].includes(as),
    );
  return usable.find(
    ({ profile: { parentIdentityInfo, attributes } }) =>
      parentIdentityInfo.code === code.toUpperCase() && (department === undefined || attributes.BMBM === department),
  );
}

function madeUp(code: string, department: string, number: number): ServicePerson {
  const id = `eval-${number}`;
  const account = `9900${number}`;
  return {
    username: id,
    password: `plain:${id}`,
    profile: {
      id: account,
      active: true,
      parentIdentityInfo: { name: code.toUpperCase(), code: code.toUpperCase() },
      attributes: { BMBM: department, BMMC: department, XGH: account, XM: id, objectId: id },
    },
    messaging: { wecom: id },
  };
}
