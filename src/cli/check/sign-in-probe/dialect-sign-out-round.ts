import type { KeptTokens } from '../../../bot/identity/tokens/vault.ts';
import { resultsOf } from '../results-of.ts';
import { attempt, newTrip, type DialectTools } from './dialect-tools.ts';
import { notTried, type Round } from './round.ts';

/**
 * The last sign-in at a provider with refresh tokens and sign-out: whether the refresh token outlives the browser session.
 */
export function dialectSignOutRound(tools: DialectTools): Round {
  const name = 'After signing out';
  const { ok, warning } = resultsOf(name);
  const untried = notTried(name);
  const trip = newTrip(tools);
  let tokens: KeptTokens | undefined;
  return {
    title: { en: 'Tokens after signing out', zh: '退出登录之后的令牌' },
    startRedirect: (state) => trip.leave(state),
    isNeeded: () => tools.facts.refresh === 'works' && tools.hasSignOut,
    async run(arrived) {
      const redeemed = await attempt(() => trip.redeem(arrived));
      if ('failure' in redeemed) return untried(`no tokens for this test (${redeemed.failure.message})`);
      tokens = redeemed.value.tokens;
      return [];
    },
    onNoCode: untried,
    afterSignOut: {
      isWanted: () => tokens?.refreshToken !== undefined,
      async run() {
        if (!tokens) return [];
        const kept = tokens;
        const renewal = await attempt(() => tools.dialect.renew(kept));
        if ('failure' in renewal) return untried(renewal.failure.message);
        if (renewal.value.kind === 'renewed') return [ok('the refresh token still works')];
        const nextStep =
          'People who sign out at the provider must sign in to Parley again after its next check; offline_access in SIGN_IN_SCOPE may prevent this';
        return [warning('the refresh token is invalid', nextStep)];
      },
    },
  };
}
