import type { Profile } from './oauth/profile-response.ts';

/**
 * The configured rule for matching a profile to a platform user id (SECURITY.md proof-of-person): the id must be `prefix`
 * followed by the profile's field. No trimming and no fuzzy matching.
 */
export interface SameIdRule {
  /** `id`, or the name of one of the profile's `attributes`, such as `XGH`. */
  field: string;
  prefix?: string;
  /** Whether to ignore the case of ASCII letters. */
  ignoreCase?: boolean;
}

export const EXACT_ID: SameIdRule = { field: 'id' };

/** Whether the signed-in profile belongs to the platform user, by the rule. A missing or empty field never matches. */
export function isSamePerson(rule: SameIdRule, profile: Profile, platformUserId: string): boolean {
  const value = rule.field === 'id' ? profile.id : attributeOf(profile, rule.field);
  if (value === undefined || value === '') return false;
  const expected = `${rule.prefix ?? ''}${value}`;
  return rule.ignoreCase ? lowerAscii(expected) === lowerAscii(platformUserId) : expected === platformUserId;
}

function attributeOf(profile: Profile, name: string): string | undefined {
  return Object.hasOwn(profile.attributes, name) ? profile.attributes[name] : undefined;
}

/** ASCII only: Unicode case folding would make different letters equal (the Kelvin sign and `k`). */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
