import type { ClaimedPerson } from './claimed-person.ts';
import type { ClaimSource, ProfileMap } from './profile-map-file.ts';
import { ProviderError } from './provider-error.ts';

/** What an institution says of somebody; the subject is `sub`, also where its protocol calls it otherwise. */
export type Claims = Readonly<Record<string, unknown>>;

/** `profile.id` and usernames are this long at most, as in the directory file; the rest is for people to read. */
const MAX_CHARS = { id: 128, username: 200, other: 256 };
const CONTROL = /\p{Cc}/u;

/** eduPerson's affiliations, in the order in which they count for somebody who is several things. */
const USUAL_IDENTITY: NonNullable<ProfileMap['identity']> = {
  from: ['eduPersonAffiliation', 'eduperson_affiliation'],
  codes: { faculty: 'JG', staff: 'JG', employee: 'JG', student: 'XS' },
  otherwise: 'QT',
};
const USUAL_INACTIVE: NonNullable<ProfileMap['inactive']> = { from: ['active'], values: ['false'] };
const USUAL_NAMES = { JG: '教职工', XS: '学生', QT: '其他' };

/**
 * The person whom claims describe. A part that the map names has to be there; one that it leaves out is taken from the
 * claim of its own name or something usual, and else from the id (a department may be empty).
 * @throws ProviderError `profile_unusable`, naming the part and never its value
 */
export function personFromClaims(map: ProfileMap, claims: Claims): ClaimedPerson {
  const part = (name: MappedPart, usual: ClaimSource, fallback?: string) =>
    readPart(claims, { name, source: map[name], usual, fallback });
  const id = part('id', ['sub']);
  const profile: ClaimedPerson['profile'] = {
    id,
    active: !isInactive(claims, map.inactive ?? USUAL_INACTIVE),
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
  /** What the map says; undefined leaves it to `usual` and `fallback`. */
  source: ClaimSource | undefined;
  usual: ClaimSource;
  fallback: string | undefined;
}

function readPart(claims: Claims, { name, source, usual, fallback }: PartReading): string {
  const value = valuesOf(claims, source ?? usual)[0] ?? (source ? undefined : fallback);
  const isKey = name === 'id' || name === 'username';
  const most = isKey ? MAX_CHARS[name] : MAX_CHARS.other;
  if (value === undefined || (isKey && value === '') || value.length > most || CONTROL.test(value))
    throw new ProviderError('profile_unusable', `The claims give no usable ${name}`);
  return value;
}

function identityOf(claims: Claims, map: ProfileMap): ClaimedPerson['profile']['parentIdentityInfo'] {
  const { from, codes, otherwise } = map.identity ?? USUAL_IDENTITY;
  const values = new Set(valuesOf(claims, from));
  const code = Object.entries(codes).find(([value]) => values.has(value))?.[1] ?? otherwise;
  return { name: map.identityNames?.[code] ?? USUAL_NAMES[code], code };
}

function isInactive(claims: Claims, { from, values }: NonNullable<ProfileMap['inactive']>): boolean {
  return valuesOf(claims, from).some((value) => values.includes(value));
}

/** The values of the first source that has any; a fixed value always has. */
function valuesOf(claims: Claims, source: ClaimSource): string[] {
  for (const one of source) {
    const values = typeof one === 'string' ? textsOf(claimAt(claims, one)) : [one.value];
    if (values.length > 0) return values;
  }
  return [];
}

/** A claim by its name; where there is none, dots lead into objects (`realm_access.roles`). */
function claimAt(claims: unknown, name: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  if (Object.hasOwn(claims, name)) return (claims as Claims)[name];
  const dot = name.indexOf('.');
  const head = name.slice(0, Math.max(dot, 0));
  return dot > 0 && Object.hasOwn(claims, head) ? claimAt((claims as Claims)[head], name.slice(dot + 1)) : undefined;
}

/** Texts, numbers and booleans, one or several; empty ones count as absent, and numbers whose last digits JSON has lost. */
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
