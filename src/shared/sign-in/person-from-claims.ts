import type { ClaimSource, ProfileMap } from './profile-map-file.ts';
import { ProviderError } from './provider-error.ts';

/** An institution's claims about a person. The subject is always `sub`, even if the protocol names it differently. */
export type Claims = Readonly<Record<string, unknown>>;

/** Maximum lengths. Those of `profile.id` and the username match the directory file; the other fields are only displayed. */
const MAX_CHARS = { id: 128, username: 200, other: 256 };
const CONTROL = /\p{Cc}/u;

/** eduPerson affiliations, highest priority first, for a person with several. */
const DEFAULT_IDENTITY: NonNullable<ProfileMap['identity']> = {
  from: ['eduPersonAffiliation', 'eduperson_affiliation'],
  codes: { faculty: 'JG', staff: 'JG', employee: 'JG', student: 'XS' },
  otherwise: 'QT',
};
const DEFAULT_INACTIVE: NonNullable<ProfileMap['inactive']> = { from: ['active'], values: ['false'] };
const DEFAULT_NAMES = { JG: '教职工', XS: '学生', QT: '其他' };

/**
 * Builds a person from claims. A field that the map names must be present. A field that it omits is taken from the claim of
 * the same name or a common alternative, and otherwise from the id (a department may be empty).
 * @throws ProviderError `profile_unusable`, naming the field and never its value
 */
export function personFromClaims(map: ProfileMap, claims: Claims): ClaimedPerson {
  const part = (name: MappedPart, usual: ClaimSource, fallback?: string) =>
    readPart(claims, { name, source: map[name], usual, fallback });
  const id = part('id', ['sub']);
  const profile: ClaimedPerson['profile'] = {
    id,
    active: !isInactive(claims, map.inactive ?? DEFAULT_INACTIVE),
    parentIdentityInfo: identityOf(claims, map),
    attributes: {
      BMBM: part('BMBM', ['BMBM'], ''),
      BMMC: part('BMMC', ['BMMC', 'department'], ''),
      XGH: part('XGH', ['XGH'], id),
      XM: part('XM', ['XM', 'name', 'displayName', 'cn'], id),
      objectId: part('objectId', ['objectId', 'sub'], id),
    },
  };
  return { username: part('username', ['sub'], id), profile };
}

type MappedPart = 'username' | 'id' | 'XM' | 'XGH' | 'BMBM' | 'BMMC' | 'objectId';

interface PartReading {
  name: MappedPart;
  /** The value according to the map; undefined leaves it to `usual` and `fallback`. */
  source: ClaimSource | undefined;
  usual: ClaimSource;
  fallback: string | undefined;
}

function readPart(claims: Claims, { name, source, usual, fallback }: PartReading): string {
  const value = valuesOf(claims, source ?? usual)[0] ?? (source ? undefined : fallback);
  const isKey = name === 'id' || name === 'username';
  const maxChars = isKey ? MAX_CHARS[name] : MAX_CHARS.other;
  if (value === undefined || (isKey && value === '') || value.length > maxChars || CONTROL.test(value))
    throw new ProviderError('profile_unusable', `The claims contain no usable ${name}`);
  return value;
}

function identityOf(claims: Claims, map: ProfileMap): ClaimedPerson['profile']['parentIdentityInfo'] {
  const { from, codes, otherwise } = map.identity ?? DEFAULT_IDENTITY;
  const values = new Set(valuesOf(claims, from));
  const code = Object.entries(codes).find(([value]) => values.has(value))?.[1] ?? otherwise;
  return { name: map.identityNames?.[code] ?? DEFAULT_NAMES[code], code };
}

function isInactive(claims: Claims, { from, values }: NonNullable<ProfileMap['inactive']>): boolean {
  return valuesOf(claims, from).some((value) => values.includes(value));
}

/** The values of the first source that has any; a fixed value always does. */
function valuesOf(claims: Claims, source: ClaimSource): string[] {
  for (const one of source) {
    const values = typeof one === 'string' ? textsOf(claimAt(claims, one)) : [one.value];
    if (values.length > 0) return values;
  }
  return [];
}

/** A claim by its name; if there is none, dots are a path into objects (`realm_access.roles`). */
function claimAt(claims: unknown, name: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  if (Object.hasOwn(claims, name)) return (claims as Claims)[name];
  const dot = name.indexOf('.');
  const head = name.slice(0, Math.max(dot, 0));
  return dot > 0 && Object.hasOwn(claims, head) ? claimAt((claims as Claims)[head], name.slice(dot + 1)) : undefined;
}

/**
 * Strings, numbers and booleans, one or several. Empty values count as absent, and so do numbers beyond the precision of
 * JSON.
 */
function textsOf(claim: unknown): string[] {
  const all: unknown[] = Array.isArray(claim) ? claim : [claim];
  return all
    .filter((value) => typeof value === 'string' || typeof value === 'boolean' || isExact(value))
    .map((value) => String(value).trim())
    .filter((value) => value !== '');
}

function isExact(value: unknown): value is number {
  return typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value));
}

/** A person as described by an institution's claims, in the form of the sign-in interface's profile. */
// oxlint-disable-next-line typescript/consistent-type-definitions -- an interface fits no person who may have more attributes
type ClaimedPerson = {
  username: string;
  profile: {
    id: string;
    active: boolean;
    parentIdentityInfo: { name: string; code: string };
    attributes: { BMBM: string; BMMC: string; XGH: string; XM: string; objectId: string };
  };
};
