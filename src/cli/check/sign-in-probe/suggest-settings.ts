import type { Config } from '../../../bot/config/config.ts';
import { guessExpiresUnit } from './expires-unit.ts';
import { isPkceProven, type ProbeFacts } from './facts.ts';

export interface Suggestion {
  setting: string;
  value: string;
  /** Why, in a few words. */
  reason: string;
  /** Whether it is set so already. */
  isSet: boolean;
}

/** What the findings say about the settings; nothing about what was not seen. */
export function suggestSettings(facts: ProbeFacts, signIn: Config['signIn']): Suggestion[] {
  // The other protocols leave open only how long tokens live on.
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
  // Sometimes is not always, but `absent` would invite what `required` keeps out.
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
  if (refresh === 'no token') return none('no refresh token is given');
  if (refresh === 'refused') return none('the refresh token gives nothing');
  if (afterSignOut?.refreshToken === false) return none('refresh tokens die when people sign out at the service');
  return [{ setting, value: 'refresh', reason: 'for the daily look', isSet: signIn.keepTokens === 'refresh' }];
}

function suggestProof(facts: ProbeFacts, { proofs }: Config['signIn']): Suggestion[] {
  const setting = 'SIGN_IN_PROOF';
  const isStateAbsent = facts.state.missing > 0 && facts.state.echoed === 0;
  const wantsSameId = isStateAbsent && !isPkceProven(facts);
  if (!wantsSameId) return [];
  // A typed code stands alone; it gives way to the stronger proof.
  const others = proofs.filter((proof: string) => proof !== 'same-id' && proof !== 'typed-code');
  const value = [...others, 'same-id'].join(',');
  const isPossible = facts.isSameId === false ? '; the ids compared were not equal, so a rule is needed first' : '';
  const reason = `without state, and without PKCE, only equal ids keep a stranger's sign-in out${isPossible}`;
  return [{ setting, value, reason, isSet: proofs.includes('same-id') }];
}
