import { createSignInProvider } from '../../../bot/identity/providers/create-provider.ts';
import type { CallbackParameter } from '../../../bot/identity/providers/provider.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { codeAgeRounds } from './code-age-rounds.ts';
import { otherAddressRound, wrongVerifierRound } from './dialect-misuse-rounds.ts';
import { dialectRound } from './dialect-round.ts';
import { dialectSignOutRound } from './dialect-sign-out-round.ts';
import type { DialectTools } from './dialect-tools.ts';
import { pkceRounds } from './pkce-rounds.ts';
import { plainRound } from './plain-round.ts';
import type { ProbeTools, Round } from './round.ts';
import { signOutRound } from './sign-out-round.ts';

/** The sign-ins of a probe, and what its pages need to know about the service. */
export interface Experiments {
  rounds: readonly Round[];
  returns?: CallbackParameter;
  /** Empty if no step includes signing out. */
  logoutUrl: string;
}

export interface ExperimentOptions {
  clientSecret: string;
  redirectUri: string;
  profileMap: ProfileMap;
}

/**
 * Selects the experiments. The OAuth 2.0 specification leaves much open (state, units, lifetimes, PKCE), so each is tested.
 * The other protocols are tested with the production sign-in code, so that both fail for the same reasons.
 */
export async function experimentsFor(tools: ProbeTools, options: ExperimentOptions): Promise<Experiments> {
  const { signIn } = tools;
  if (signIn.type === 'oauth2')
    return {
      rounds: [plainRound(tools), ...pkceRounds(tools), ...codeAgeRounds(tools), signOutRound(tools)],
      logoutUrl: tools.calls.logoutUrl(),
    };
  const { clientId } = signIn;
  const { redirectUri, clientSecret, profileMap } = options;
  const service = { ...signIn, authUrl: signIn.url, clientSecret, profileMap };
  const dialect = createSignInProvider(service, { clientId, allowedIdentityCodes: signIn.identityCodes });
  const logoutUrl = (await dialect.logoutUrl(redirectUri)) ?? '';
  const { facts, secrets, person } = tools;
  const dialectTools: DialectTools = {
    facts,
    secrets,
    person,
    signIn,
    dialect,
    redirectUri,
    hasSignOut: logoutUrl !== '',
  };
  const rounds =
    signIn.type === 'cas'
      ? [dialectRound(dialectTools), otherAddressRound(dialectTools)]
      : [dialectRound(dialectTools), wrongVerifierRound(dialectTools), dialectSignOutRound(dialectTools)];
  return { rounds, returns: dialect.returns, logoutUrl };
}
