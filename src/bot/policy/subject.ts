import { z } from 'zod';

/** Attributes of the signed-in account that rules examine (SERVICE.md profile). */
export interface PolicyPerson {
  /** `JG`, `XS` or `QT`; empty if the profile has no identity code. */
  identityCode: string;
  /** Department code; empty if the profile has none. */
  department: string;
}

/** Place of the question. */
export interface PolicyPlace {
  kind: 'private' | 'group';
  /** Platform group id; ignored in a private chat. */
  id: string;
}

/**
 * People that a rule applies to. All listed conditions must hold; within a list, one match is enough. No conditions means
 * everyone.
 */
export interface Subject {
  /** Whether an account is linked. */
  signedIn?: boolean;
  /** Identity codes of the profile (SERVICE.md profile, `parentIdentityInfo.code`). */
  identity?: readonly string[];
  /** Department codes (SERVICE.md profile, `attributes.BMBM`). A trailing `*` makes the code a prefix. */
  departments?: readonly string[];
}

/** Places in which a feature is enabled. */
export interface EnabledPlaces {
  private: boolean;
  /** Platform group ids. */
  groups: 'all' | 'none' | readonly string[];
}

/** Known identity types (SERVICE.md profile). Without this check, a rule with a misspelt type would match no person. */
const IDENTITY_CODES = ['JG', 'XS', 'QT'] as const;

export const departmentSchema = z
  .string()
  .regex(/^[^\s*]+\*?$/, 'Must be a department code, or the beginning of one followed by *');

export const subjectSchema = z
  .strictObject({
    signedIn: z.boolean().optional(),
    identity: listOf(z.enum(IDENTITY_CODES, `Must be one of ${IDENTITY_CODES.join(', ')}`)).optional(),
    departments: listOf(departmentSchema).optional(),
  })
  .refine(({ signedIn, identity, departments }) => signedIn !== false || !(identity ?? departments), {
    message: 'People who are not signed in have neither an identity nor a department',
  });

export const groupsSchema = z.union(
  [z.literal(['all', 'none']), listOf(z.string().min(1))],
  'Must be "all", "none" or a list of group ids',
);

export function listOf<Part extends z.ZodType>(part: Part): z.ZodArray<Part> {
  return z.array(part).min(1, 'Must not be empty: name at least one');
}

/**
 * Whether all conditions of the rule hold for this person. A person who is not signed in has no identity and no department.
 */
export function matches({ signedIn, identity, departments }: Subject, person: PolicyPerson | undefined): boolean {
  if (signedIn !== undefined && signedIn !== (person !== undefined)) return false;
  if (identity && !(person && identity.includes(person.identityCode))) return false;
  return (
    !departments || (person !== undefined && departments.some((code) => isWithinDepartment(person.department, code)))
  );
}

/** Whether the subject has no conditions. */
export function isEverybody({ signedIn, identity, departments }: Subject): boolean {
  return signedIn === undefined && identity === undefined && departments === undefined;
}

/** Whether the place is enabled. */
export function isPlaceEnabled({ private: isPrivateOpen, groups }: EnabledPlaces, { kind, id }: PolicyPlace): boolean {
  if (kind === 'private') return isPrivateOpen;
  return groups === 'all' || (groups !== 'none' && groups.includes(id));
}

/** `31*` matches every department whose code begins with 31. */
export function isWithinDepartment(department: string, code: string): boolean {
  return code.endsWith('*') ? department.startsWith(code.slice(0, -1)) : department === code;
}
