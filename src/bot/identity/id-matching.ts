import type { Profile } from './oauth/profile-response.ts';

/**
 * The declared rule by which a profile belongs to a platform user id (SECURITY.md proof-of-person): the platform's id is
 * `prefix` followed by the profile's field. Nothing is trimmed and nothing resembles anything.
 */
export interface SameIdRule {
  /** `id`, or the name of one of the profile's `attributes` (such as `XGH`). */
  field: string;
  prefix?: string;
  /** Whether the case of ASCII letters makes no difference. */
  ignoreCase?: boolean;
}

export const EXACT_ID: SameIdRule = { field: 'id' };

/** Whether the signed-in profile is the platform user's, by the rule; a missing or empty field never is. */
export function isSamePerson(rule: SameIdRule, profile: Profile, platformUserId: string): boolean {
  const value = rule.field === 'id' ? profile.id : attributeOf(profile, rule.field);
  if (value === undefined || value === '') return false;
  const expected = `${rule.prefix ?? ''}${value}`;
  return rule.ignoreCase ? lowerAscii(expected) === lowerAscii(platformUserId) : expected === platformUserId;
}

function attributeOf(profile: Profile, name: string): string | undefined {
  return Object.hasOwn(profile.attributes, name) ? profile.attributes[name] : undefined;
}

/** ASCII only: Unicode folding would make different letters equal (the Kelvin sign and `k`). */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
