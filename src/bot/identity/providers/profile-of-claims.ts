import { personFromClaims, type Claims } from '../../../shared/sign-in/person-from-claims.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { ACCOUNT_ID } from '../../domain/ids.ts';
import { validateProfile, type Profile, type ProfileRules } from '../oauth/profile-response.ts';

/** Maps claims to a profile and validates it. @throws IdentityError `profile_broken`, `profile_unfit`; ProviderError */
export function profileOfClaims(claims: Claims, map: ProfileMap, rules: ProfileRules): Profile {
  const { profile } = personFromClaims(map, claims);
  // The client was already verified, by the audience or by the service address of the ticket.
  return validateProfile({ ...profile, client_id: rules.clientId }, rules, ACCOUNT_ID);
}
