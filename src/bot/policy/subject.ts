import { z } from 'zod';

/** What rules look at of the account that is signed in (SERVICE.md profile). */
export interface PolicyPerson {
  /** `JG`, `XS` or `QT`; empty where the profile names none. */
  identityCode: string;
  /** The department's code; empty where the profile names none. */
  department: string;
}

/** Where somebody asks. */
export interface PolicyPlace {
  kind: 'private' | 'group';
  /** The platform's id of the group; not looked at in a private chat. */
  id: string;
}

/** Which people a rule is about: all that is named must hold; of a list, one. Nothing named is everybody. */
export interface Subject {
  /** Whether an account is linked. */
  signedIn?: boolean;
  /** The profile's identity codes (SERVICE.md profile, `parentIdentityInfo.code`). */
  identity?: readonly string[];
  /** Department codes (SERVICE.md profile, `attributes.BMBM`); with `*` at its end the beginning of one. */
  departments?: readonly string[];
}

/** In which places something is open. */
export interface Where {
  private: boolean;
  /** The platform's ids of groups. */
  groups: 'all' | 'none' | readonly string[];
}

/** The identity types that there are (SERVICE.md profile). A slip of one would otherwise be a rule that fits nobody. */
const IDENTITY_CODES = ['JG', 'XS', 'QT'] as const;

const department = z
  .string()
  .regex(/^[^\s*]+\*?$/, 'Must be a department code, or the beginning of one and * at its end');

export const subjectSchema = z
  .strictObject({
    signedIn: z.boolean().optional(),
    identity: listOf(z.enum(IDENTITY_CODES, `Must be one of ${IDENTITY_CODES.join(', ')}`)).optional(),
    departments: listOf(department).optional(),
  })
  .refine(({ signedIn, identity, departments }) => signedIn !== false || !(identity ?? departments), {
    message: 'Who is not signed in has neither an identity nor a department',
  });

export const groupsSchema = z.union(
  [z.literal(['all', 'none']), listOf(z.string().min(1))],
  'Must be "all", "none" or a list of group ids',
);

export function listOf<Part extends z.ZodType>(part: Part): z.ZodArray<Part> {
  return z.array(part).min(1, 'Is empty: name at least one');
}

/** Whether a rule is about this person: all that it names holds. Who is not signed in has no identity and no department. */
export function matches({ signedIn, identity, departments }: Subject, person: PolicyPerson | undefined): boolean {
  if (signedIn !== undefined && signedIn !== (person !== undefined)) return false;
  if (identity && !(person && identity.includes(person.identityCode))) return false;
  return !departments || (person !== undefined && departments.some((code) => isWithin(person.department, code)));
}

/** Whether it names no condition. */
export function isEverybody({ signedIn, identity, departments }: Subject): boolean {
  return signedIn === undefined && identity === undefined && departments === undefined;
}

/** Whether a place is among those that are open. */
export function isOpen({ private: isPrivateOpen, groups }: Where, { kind, id }: PolicyPlace): boolean {
  if (kind === 'private') return isPrivateOpen;
  return groups === 'all' || (groups !== 'none' && groups.includes(id));
}

/** `31*` stands for every department whose code begins with 31. */
function isWithin(department: string, code: string): boolean {
  return code.endsWith('*') ? department.startsWith(code.slice(0, -1)) : department === code;
}
