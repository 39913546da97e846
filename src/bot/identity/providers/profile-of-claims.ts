import { personFromClaims, type Claims } from '../../../shared/sign-in/person-from-claims.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { validateProfile, type Profile, type ProfileRules } from '../oauth/profile-response.ts';

/**
 * Subjects as providers issue them (RFC 7519 leaves the format open). Base64url may start with any of its characters; some
 * providers join parts with a bar.
 */
const SUBJECT = /^[A-Za-z0-9_-][A-Za-z0-9._@|-]{0,127}$/;

/**
 * Maps claims to a profile and validates it.
 * @throws IdentityError `profile_broken`, `profile_unfit`; ProviderError
 */
export function profileOfClaims(claims: Claims, map: ProfileMap, rules: ProfileRules): Profile {
  const { profile } = personFromClaims(map, claims);
  // The client was already verified, by the audience or by the service address of the ticket.
  return validateProfile({ ...profile, client_id: rules.clientId }, rules, SUBJECT);
}
