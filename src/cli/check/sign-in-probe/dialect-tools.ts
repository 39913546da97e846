import { IdentityError } from '../../../bot/identity/identity-error.ts';
import type { Redeemed, SignInDialect } from '../../../bot/identity/providers/provider.ts';
import type { ArrivedCode, ProbeTools } from './round.ts';

/** What the experiments with another protocol than the specification's work with: the very code that signs people in. */
export interface DialectTools extends Pick<ProbeTools, 'facts' | 'secrets' | 'signIn' | 'person'> {
  dialect: SignInDialect;
  redirectUri: string;
  /** Whether people can sign out there by an address. */
  hasSignOut: boolean;
}

/** One way to the provider and back. */
export interface Trip {
  leave(state: string): Promise<string>;
  /** @throws IdentityError */
  redeem(arrived: ArrivedCode, as?: { kept?: string; state?: string }): Promise<Redeemed>;
}

export function newTrip({ dialect, redirectUri, secrets }: DialectTools): Trip {
  let kept = '';
  return {
    async leave(state) {
      const departure = await dialect.leave({ redirectUri, state });
      kept = departure.kept;
      return departure.location;
    },
    async redeem({ code, query, state }, as) {
      const redeemed = await dialect.redeem({ code, query, redirectUri, state, kept, ...as });
      const { accessToken = '', refreshToken = '' } = redeemed.tokens;
      secrets.add(accessToken, refreshToken);
      return redeemed;
    },
  };
}

/** What an attempt came to; only this room's errors are findings. */
export async function attempt<Result>(
  work: () => Promise<Result>,
): Promise<{ value: Result } | { failure: IdentityError }> {
  try {
    return { value: await work() };
  } catch (thrown) {
    if (thrown instanceof IdentityError) return { failure: thrown };
    throw thrown;
  }
}
