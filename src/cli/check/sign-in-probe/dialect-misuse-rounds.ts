import { randomToken } from '../../../shared/crypto/ids.ts';
import { resultsOf } from '../results-of.ts';
import { attempt, newTrip, type DialectTools } from './dialect-tools.ts';
import { notTried, type Round } from './round.ts';

/** Redeems a code with another sign-in's verifier. Only PKCE at the provider can reject that. */
export function wrongVerifierRound(tools: DialectTools): Round {
  const name = 'Wrong verifier';
  const { ok, warning } = resultsOf(name);
  const trip = newTrip(tools);
  return {
    title: { en: 'A wrong PKCE verifier', zh: '错误的 PKCE 校验码' },
    startRedirect: (state) => trip.leave(state),
    isNeeded: () => true,
    async run(arrived) {
      const { dialect, redirectUri } = tools;
      const { kept } = await dialect.startAuthorization({ redirectUri, state: randomToken() });
      const redeemed = await attempt(() => trip.redeem(arrived, { kept }));
      // An error about the nonce comes after the token endpoint, so the verifier was accepted.
      const isRefused = 'failure' in redeemed && !redeemed.failure.message.includes('CLAIM_COMPARISON');
      if (isRefused) return [ok(`refused (${redeemed.failure.message})`)];
      const nextStep = 'Enable PKCE with S256 for this client; until then, state and nonce protect sign-ins';
      return [warning('accepted: the provider ignores PKCE', nextStep)];
    },
    onNoCode: notTried(name),
  };
}

/**
 * Validates a ticket for another address than it was issued for. A server that accepts it would accept other services'
 * tickets too.
 */
export function otherAddressRound(tools: DialectTools): Round {
  const name = 'Ticket for another address';
  const { ok, fault } = resultsOf(name);
  const trip = newTrip(tools);
  return {
    title: { en: 'A ticket for another address', zh: '用于其他地址的票据' },
    startRedirect: (state) => trip.leave(state),
    isNeeded: () => true,
    async run(arrived) {
      const redeemed = await attempt(() => trip.redeem(arrived, { state: randomToken() }));
      if ('failure' in redeemed) return [ok(`refused (${redeemed.failure.message})`)];
      const nextStep =
        'Do not use this server until this is fixed: any of its other applications could sign in here as their users';
      return [fault('accepted: the server does not compare service addresses', nextStep)];
    },
    onNoCode: notTried(name),
  };
}
