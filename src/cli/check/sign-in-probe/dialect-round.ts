import { maskId } from '../../../bot/identity/mask-id.ts';
import type { Redeemed } from '../../../bot/identity/providers/provider.ts';
import type { Profile } from '../../../bot/identity/oauth/profile-response.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { resultsOf } from '../results-of.ts';
import { adviceFor } from './dialect-advice.ts';
import { attempt, newTrip, type DialectTools, type Trip } from './dialect-tools.ts';
import { sameIdOf } from './profile-findings.ts';
import type { ArrivedCode, Round } from './round.ts';

/** The first sign-in with OpenID Connect or CAS, as the bot does it: code or ticket, profile, refresh, and a second use. */
export function dialectRound(tools: DialectTools): Round {
  const trip = newTrip(tools);
  const failed = (detail: string): CheckResult[] => {
    tools.facts.isStuck = true;
    return [resultsOf('Sign-in').fault(detail, adviceFor(detail, tools))];
  };
  return {
    title: { en: 'A plain sign-in', zh: '普通登录' },
    startRedirect: (state) => trip.leave(state),
    isNeeded: () => true,
    async run(arrived) {
      const startedMs = performance.now();
      const redeemed = await attempt(() => trip.redeem(arrived));
      if ('failure' in redeemed) return failed(redeemed.failure.message);
      const tookMs = Math.round(performance.now() - startedMs);
      const isCas = tools.signIn.type === 'cas';
      const right = isCas ? 'the ticket is valid' : 'the code returned tokens, and the id token is valid';
      return [
        resultsOf('Sign-in').ok(`${right}, in ${tookMs} ms`),
        ...(await profileOf(tools, redeemed.value)),
        ...(isCas ? [] : [await refreshOf(tools, redeemed.value)]),
        await secondUse(tools, trip, arrived),
      ];
    },
    onNoCode: failed,
  };
}

async function profileOf(tools: DialectTools, redeemed: Redeemed): Promise<CheckResult[]> {
  const { ok, fault } = resultsOf('Profile');
  const read = await attempt(() => redeemed.profile());
  if ('failure' in read) {
    const detail = read.failure.message;
    return [fault(detail, adviceFor(detail, tools))];
  }
  const detail = `readable and usable, id ${maskId(read.value.id)}`;
  return [ok(detail), partsOf(read.value), ...sameIdOf(tools, read.value)];
}

/** Profile fields that the claims lack. Optional for policies and pages. */
function partsOf({ id, name: personName, department, departmentName, identityCode }: Profile): CheckResult {
  const { ok, warning } = resultsOf('Profile parts');
  const lacks = [
    ...(personName === id ? ['no name'] : []),
    ...(department === '' && departmentName === '' ? ['no department'] : []),
    ...(identityCode === 'QT' ? ['no identity type'] : []),
  ];
  if (lacks.length === 0) return ok('name, department and identity type are present');
  const nextStep =
    'If you need these, name their claims in SIGN_IN_PROFILE_MAP_FILE, or have the provider release them';
  return warning(lacks.join(', '), nextStep);
}

async function refreshOf(
  { dialect, facts, secrets, signIn }: DialectTools,
  { tokens }: Redeemed,
): Promise<CheckResult> {
  const { ok, warning } = resultsOf('Refresh');
  if (tokens.refreshToken === undefined) {
    facts.refresh = 'no token';
    const nextStep =
      'Configure the provider to issue refresh tokens (Entra ID and Okta do for offline_access in SIGN_IN_SCOPE): without them accounts are not checked daily, and people sign in again after 30 days';
    const detail = 'no refresh token was issued';
    return signIn.keepTokens === 'none' ? ok(detail) : warning(detail, nextStep);
  }
  const again = await attempt(async () => {
    const renewal = await dialect.renew(tokens);
    if (renewal.kind === 'refused') return renewal;
    const { accessToken, refreshToken = '' } = renewal.tokens;
    secrets.add(accessToken, refreshToken);
    const { subject } = tokens;
    const profile = await dialect.profile({
      accessToken,
      subject,
      claims: renewal.claims,
    });
    return { kind: 'looked', profile, isRotated: refreshToken !== '' && refreshToken !== tokens.refreshToken } as const;
  });
  const nextStep = 'Contact the operator of the sign-in service: the daily check needs refresh tokens';
  if ('failure' in again) return warning(again.failure.message, nextStep);
  if (again.value.kind === 'refused') {
    facts.refresh = 'refused';
    return warning(`the refresh token is refused (${again.value.status})`, nextStep);
  }
  if (again.value.profile === 'token-refused') return warning('the renewed token is refused', nextStep);
  facts.refresh = 'works';
  const next = again.value.isRotated ? 'a new refresh token' : 'no new refresh token (the first stays valid)';
  return ok(`returns new tokens of the same person, and ${next}`);
}

async function secondUse(tools: DialectTools, trip: Trip, arrived: ArrivedCode): Promise<CheckResult> {
  const { ok, warning } = resultsOf(tools.signIn.type === 'cas' ? 'Second use of a ticket' : 'Second use of a code');
  const second = await attempt(() => trip.redeem(arrived));
  if ('failure' in second) return ok(`refused (${second.failure.message})`);
  const nextStep =
    'Report this to the operator of the sign-in service: a leaked code or ticket could be used by others';
  return warning('accepted', nextStep);
}
