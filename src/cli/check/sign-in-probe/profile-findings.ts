import { asError } from '../../../shared/coded-error.ts';
import { maskId } from '../../../bot/identity/mask-id.ts';
import { readProfile, type Profile } from '../../../bot/identity/oauth/profile-response.ts';
import { isSamePerson } from '../../../bot/identity/id-matching.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { shapeOf } from './answer-shape.ts';
import { judgeProfileFields } from './profile-fields.ts';
import type { ProbeTools } from './round.ts';
import type { ServiceAnswer } from './service-calls.ts';

/**
 * Reports whether a sign-in would accept the profile, and which specified fields are missing. Shows nothing personal except
 * a masked id.
 */
export async function profileOf(tools: ProbeTools, accessToken: string): Promise<CheckResult[]> {
  const answer = await tools.calls.profile(accessToken);
  const rules = {
    clientId: tools.signIn.clientId,
    allowedIdentityCodes: tools.signIn.identityCodes,
  };
  const fields = profileFields(answer);
  try {
    const profile = readProfile(answer, rules);
    const detail = `readable and usable, id ${maskId(profile.id)}`;
    return [{ name: 'Profile', verdict: 'ok', detail }, ...fields, ...sameIdOf(tools, profile)];
  } catch (error) {
    const nextStep = 'Sign in with an account that may use Parley, or contact the operator of the sign-in service';
    const detail = `${asError(error).message} (${shapeOf(answer)})`;
    return [{ name: 'Profile', verdict: 'fault', detail, nextStep }, ...fields];
  }
}

function profileFields(answer: ServiceAnswer): CheckResult[] {
  const faults = judgeProfileFields(answer.body);
  const name = 'Profile fields';
  if (answer.status !== 200 || !faults) return [];
  const all = [...faults.vital, ...faults.others];
  if (all.length === 0) return [{ name, verdict: 'ok', detail: 'all required fields are present' }];
  const verdict = faults.vital.length > 0 ? 'fault' : 'warning';
  return [
    {
      name,
      verdict,
      detail: all.join('; '),
      nextStep: 'Ask the operator of the sign-in service for the missing fields',
    },
  ];
}

/** Reports whether `--person` matches this profile by the configured rule. Empty if no person was given. */
export function sameIdOf(
  { facts, signIn, person }: Pick<ProbeTools, 'facts' | 'signIn' | 'person'>,
  profile: Profile,
): CheckResult[] {
  if (person === undefined) return [];
  const { sameIdRule } = signIn;
  facts.isSameId = isSamePerson(sameIdRule, profile, person);
  const { field, prefix, ignoreCase } = sameIdRule;
  const rule = `field=${field};prefix=${prefix};case=${ignoreCase ? 'ignore' : 'exact'}`;
  const name = 'Same id';
  if (facts.isSameId) return [{ name, verdict: 'ok', detail: `${maskId(person)} matches this profile by ${rule}` }];
  const detail = `${maskId(person)} does not match this profile (id ${maskId(profile.id)}), by ${rule}`;
  const verdict = signIn.proofs.includes('same-id') ? 'fault' : 'warning';
  return [{ name, verdict, detail, nextStep: 'Sign in as that person, or set another SIGN_IN_SAME_ID_RULE' }];
}
