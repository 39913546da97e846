import { randomToken } from '../../../shared/crypto/ids.ts';
import { attempt, newTrip, type DialectTools } from './dialect-tools.ts';
import type { Round } from './round.ts';

const NOT_TRIED = { verdict: 'warning', nextStep: 'Run the probe again' } as const;

/** A code that goes with the verifier of another sign-in: only the provider can refuse that, by PKCE. */
export function wrongVerifierRound(tools: DialectTools): Round {
  const name = 'Wrong verifier';
  const trip = newTrip(tools);
  return {
    title: { en: 'A wrong PKCE verifier', zh: '错误的 PKCE 校验码' },
    leave: (state) => trip.leave(state),
    isNeeded: () => true,
    async run(arrived) {
      const { dialect, redirectUri } = tools;
      const { kept } = await dialect.leave({ redirectUri, state: randomToken() });
      const redeemed = await attempt(() => trip.redeem(arrived, { kept }));
      // Past the token address its nonce does not fit either: then the verifier was taken.
      const isRefused = 'failure' in redeemed && !redeemed.failure.message.includes('CLAIM_COMPARISON');
      if (isRefused) return [{ name, verdict: 'ok', detail: `refused (${redeemed.failure.message})` }];
      const nextStep = 'Switch PKCE on for this client, with S256: state and nonce protect sign-ins meanwhile';
      return [{ name, verdict: 'warning', detail: 'accepted: the provider ignores PKCE', nextStep }];
    },
    cameToNothing: (how) => [{ name, detail: how, ...NOT_TRIED }],
  };
}

/** A ticket that was given for one address, asked about for another: a server that takes it would let one service's tickets in at all. */
export function otherAddressRound(tools: DialectTools): Round {
  const name = 'Ticket for another address';
  const trip = newTrip(tools);
  return {
    title: { en: 'A ticket for another address', zh: '用于其他地址的票据' },
    leave: (state) => trip.leave(state),
    isNeeded: () => true,
    async run(arrived) {
      const redeemed = await attempt(() => trip.redeem(arrived, { state: randomToken() }));
      if ('failure' in redeemed) return [{ name, verdict: 'ok', detail: `refused (${redeemed.failure.message})` }];
      const nextStep =
        'Do not use this server as it is: any application that it serves could sign in as its visitors here';
      return [{ name, verdict: 'fault', detail: 'accepted: the server does not compare addresses', nextStep }];
    },
    cameToNothing: (how) => [{ name, detail: how, ...NOT_TRIED }],
  };
}
