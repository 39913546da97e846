import { IdentityError } from '../../../bot/identity/identity-error.ts';
import type { Redeemed, SignInProvider } from '../../../bot/identity/providers/provider.ts';
import type { ArrivedCode, ProbeTools } from './round.ts';

/** The tools of experiments with protocols other than OAuth 2.0. They use the production sign-in code. */
export interface DialectTools extends Pick<ProbeTools, 'facts' | 'secrets' | 'signIn' | 'person'> {
  dialect: SignInProvider;
  redirectUri: string;
  /** Whether the provider has a sign-out address. */
  hasSignOut: boolean;
}

/** One redirect to the provider and its callback. */
export interface Trip {
  leave(state: string): Promise<string>;
  /** @throws IdentityError */
  redeem(arrived: ArrivedCode, as?: { kept?: string; state?: string }): Promise<Redeemed>;
}

export function newTrip({ dialect, redirectUri, secrets }: DialectTools): Trip {
  let kept = '';
  return {
    async leave(state) {
      const departure = await dialect.startAuthorization({ redirectUri, state });
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

/** The outcome of an attempt. Only identity errors are findings; others are thrown. */
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
