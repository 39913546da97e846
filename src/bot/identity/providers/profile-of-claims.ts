import { personFromClaims, type Claims } from '../../../shared/sign-in/person-from-claims.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { judgeProfile, type Profile, type ProfileRules } from '../oauth/profile-response.ts';

/** As providers write subjects (RFC 7519 leaves that open): base64url begins with any of its characters, some join parts by a bar. */
const SUBJECT = /^[A-Za-z0-9_-][A-Za-z0-9._@|-]{0,127}$/;

/** The profile that claims give by the map, judged as every other. @throws IdentityError `profile_broken`, `profile_unfit`; ProviderError */
export function profileOfClaims(claims: Claims, map: ProfileMap, rules: ProfileRules): Profile {
  const { profile } = personFromClaims(map, claims);
  // Whose client the claims are for was checked before: by the audience, or by the address that a ticket is for.
  return judgeProfile({ ...profile, client_id: rules.clientId }, rules, SUBJECT);
}
