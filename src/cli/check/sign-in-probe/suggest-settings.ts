import type { Config } from '../../../bot/config/config.ts';
import { guessExpiresUnit } from './expires-unit.ts';
import { isPkceProven, type ProbeFacts } from './facts.ts';

export interface Suggestion {
  setting: string;
  value: string;
  /** The reason, in a few words. */
  reason: string;
  /** Whether the setting already has this value. */
  isSet: boolean;
}

/** Derives settings from the findings. Suggests nothing for untested facts. */
export function suggestSettings(facts: ProbeFacts, signIn: Config['signIn']): Suggestion[] {
  // In the other protocols, only the lifetime of tokens is open.
  if (signIn.type !== 'oauth2') return suggestTokens(facts, signIn);
  return [
    ...suggestState(facts, signIn),
    ...suggestUnit(facts, signIn),
    ...suggestTokens(facts, signIn),
    ...suggestProof(facts, signIn),
  ];
}

function suggestState({ state, isStateAltered }: ProbeFacts, signIn: Config['signIn']): Suggestion[] {
  if (isStateAltered === true || state.echoed + state.missing === 0) return [];
  // `state` may be returned only sometimes, but `absent` would permit the attack that `required` prevents.
  const value = state.echoed > 0 ? 'required' : 'absent';
  const reason = value === 'required' ? 'the service returns state' : 'the service does not return state';
  return [{ setting: 'SIGN_IN_STATE', value, reason, isSet: signIn.state === value }];
}

function suggestUnit(facts: ProbeFacts, signIn: Config['signIn']): Suggestion[] {
  if (!('expiresIn' in facts)) return [];
  const { unit, detail } = guessExpiresUnit(facts.expiresIn);
  return [{ setting: 'SIGN_IN_EXPIRES_UNIT', value: unit, reason: detail, isSet: signIn.expiresUnit === unit }];
}

function suggestTokens({ refresh, afterSignOut }: ProbeFacts, signIn: Config['signIn']): Suggestion[] {
  if (refresh === undefined) return [];
  const setting = 'SIGN_IN_KEEP_TOKENS';
  const none = (reason: string) => [{ setting, value: 'none', reason, isSet: signIn.keepTokens === 'none' }];
  if (refresh === 'no token') return none('no refresh token was issued');
  if (refresh === 'refused') return none('the refresh token does not work');
  if (afterSignOut?.refreshToken === false)
    return none('refresh tokens become invalid when people sign out at the service');
  return [{ setting, value: 'refresh', reason: 'for the daily check', isSet: signIn.keepTokens === 'refresh' }];
}

function suggestProof(facts: ProbeFacts, { proofs }: Config['signIn']): Suggestion[] {
  const setting = 'SIGN_IN_PROOF';
  const isStateAbsent = facts.state.missing > 0 && facts.state.echoed === 0;
  const wantsSameId = isStateAbsent && !isPkceProven(facts);
  if (!wantsSameId) return [];
  // `typed-code` cannot be combined with others and is replaced by the stronger proof.
  const others = proofs.filter((proof: string) => proof !== 'same-id' && proof !== 'typed-code');
  const value = [...others, 'same-id'].join(',');
  const isPossible = facts.isSameId === false ? '; the compared ids differ, so set SIGN_IN_SAME_ID_RULE first' : '';
  const reason = `without state and PKCE, only equal ids prevent another person's sign-in${isPossible}`;
  return [{ setting, value, reason, isSet: proofs.includes('same-id') }];
}
