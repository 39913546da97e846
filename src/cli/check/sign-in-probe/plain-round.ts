import { readJsonObject } from '../../../shared/sign-in/json-answer.ts';
import type { ClientAuthMethod } from '../../../shared/sign-in/client-auth.ts';
import { type TokenSet, classifyRefusal } from '../../../bot/identity/oauth/token-response.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { resultsOf } from '../results-of.ts';
import { isForm, shapeOf } from './answer-shape.ts';
import { guessExpiresUnit } from './expires-unit.ts';
import { profileOf } from './profile-findings.ts';
import { leaveWith, type ProbeTools, type Round } from './round.ts';
import type { ServiceAnswer, ServiceCalls } from './service-calls.ts';
import { codeVerdict, tokensIn } from './tokens-in.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';

/** The first sign-in, as the specification describes it: tokens, profile, refresh, a second use of the code, and errors. */
export function plainRound(tools: ProbeTools): Round {
  return {
    title: { en: 'A plain sign-in', zh: '普通登录' },
    startRedirect: leaveWith(tools),
    isNeeded: () => true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code });
      const tokens = tokensIn(answer, tools.secrets);
      if ('refusal' in tokens) {
        tools.facts.isStuck = true;
        const isAboutClient = /invalid_client|status 401/.test(tokens.refusal);
        const other = isAboutClient ? await tools.calls.otherClientAuth() : undefined;
        return [refusedTokens(answer, tokens.refusal, other)];
      }
      return [
        resultsOf('Tokens').ok(`${shapeOf(answer)}, in ${answer.tookMs} ms`),
        lifeOfToken(tools, answer),
        ...(await profileOf(tools, tokens.accessToken)),
        await refreshOf(tools, tokens),
        await secondUse(tools, code, tokens),
        ...(await refusalsOf(tools.calls)),
      ];
    },
    onNoCode(how) {
      tools.facts.isStuck = true;
      const nextStep = 'Check that the client may use this redirect address and scope, and that you gave consent';
      return [resultsOf('Sign-in').fault(how, nextStep)];
    },
  };
}

function refusedTokens(answer: ServiceAnswer, refusal: string, other: ClientAuthMethod | undefined): CheckResult {
  const { fault } = resultsOf('Tokens');
  const detail = answer.failure === undefined ? `${refusal} (${shapeOf(answer)})` : shapeOf(answer);
  if (answer.failure !== undefined) return fault(detail, 'Check that this machine can reach SIGN_IN_URL within 5 s');
  if (other) return fault(detail, `Set SIGN_IN_CLIENT_AUTH=${other}, which the service accepts`);
  if (answer.status === 401) return fault(detail, 'Set SIGN_IN_CLIENT_SECRET');
  const nextStep = isForm(answer.body)
    ? 'Ask the operator of the sign-in service to answer token requests in JSON'
    : 'Contact the operator of the sign-in service';
  return fault(detail, nextStep);
}

function lifeOfToken({ facts, signIn }: ProbeTools, answer: ServiceAnswer): CheckResult {
  const { ok, warning, fault } = resultsOf('Token lifetime');
  facts.expiresIn = readJsonObject(answer.body)?.['expires_in'];
  const { unit, detail, isSure } = guessExpiresUnit(facts.expiresIn);
  const isWrongAsSet = isSure && signIn.expiresUnit !== 'auto' && signIn.expiresUnit !== unit;
  if (isWrongAsSet) return fault(detail, `Set SIGN_IN_EXPIRES_UNIT=${unit}`);
  if (isSure) return ok(detail);
  return warning(detail, 'Ask the operator of the sign-in service for the unit');
}

async function refreshOf({ calls, facts, secrets, signIn }: ProbeTools, tokens: TokenSet): Promise<CheckResult> {
  const { ok, warning } = resultsOf('Refresh');
  const nextStep = 'Set SIGN_IN_KEEP_TOKENS=none: Parley has no token to renew';
  if (tokens.refreshToken === undefined) {
    facts.refresh = 'no token';
    const detail = 'no refresh token was issued';
    return signIn.keepTokens === 'none' ? ok(detail) : warning(detail, nextStep);
  }
  const answer = await calls.refresh(tokens.refreshToken);
  const renewed = tokensIn(answer, secrets);
  if ('refusal' in renewed) {
    facts.refresh = 'refused';
    return warning(`a refresh token was issued, but: ${renewed.refusal}`, nextStep);
  }
  facts.refresh = 'works';
  const next =
    renewed.refreshToken === undefined
      ? 'no new refresh token (the first stays valid)'
      : renewed.refreshToken === tokens.refreshToken
        ? 'the same refresh token again'
        : 'a new refresh token';
  const [first, second] = [await calls.profile(tokens.accessToken), await calls.profile(renewed.accessToken)];
  const old = first.status === 200 ? 'the first access token still works' : 'the first access token is invalid';
  if (second.status === 200) return ok(`returns an access token and ${next}; ${old}`);
  const detail = `returns an access token that the profile address refuses (${shapeOf(second)})`;
  return warning(detail, nextStep);
}

async function secondUse({ calls, secrets }: ProbeTools, code: string, tokens: TokenSet): Promise<CheckResult> {
  const { ok, warning } = resultsOf('Second use of a code');
  const works = async () => (await calls.profile(tokens.accessToken)).status === 200;
  const worksBefore = await works();
  const answer = await calls.exchange({ code });
  const verdict = codeVerdict(answer, secrets);
  const after = (await works()) ? 'the first token still works' : 'it revokes the first token';
  const effect = worksBefore ? after : 'the first token was already invalid';
  if (verdict === 'refused') return ok(`refused (${shapeOf(answer)}); ${effect}`);
  const detail = verdict === 'accepted' ? `accepted; ${effect}` : `not clearly refused (${shapeOf(answer)}); ${effect}`;
  const nextStep = 'Report this to the operator of the sign-in service: a leaked code could be used by others';
  return warning(detail, nextStep);
}

/**
 * Tests the service's error responses, by which Parley distinguishes an invalid sign-in from a temporary failure
 * (SECURITY.md refresh-outcomes).
 */
async function refusalsOf(calls: ServiceCalls): Promise<CheckResult[]> {
  const madeUp = () => `probe-${randomToken(16)}`;
  const code = await calls.exchange({ code: madeUp() });
  const secret = await calls.exchange({ code: madeUp(), clientSecret: madeUp() });
  const refresh = await calls.refresh(madeUp());
  const profile = await calls.profile(madeUp());
  return [
    refusal('Unknown code', code, isRefused(code)),
    refusal('Wrong secret', secret, isRefused(secret) && classifyRefusal(secret) === 'ours'),
    refusal('Unknown refresh', refresh, isRefused(refresh) && classifyRefusal(refresh) === 'definitive'),
    refusal('Unknown token', profile, profile.status === 401 || profile.status === 403),
  ];
}

function isRefused({ status }: ServiceAnswer): boolean {
  return status >= 400 && status < 500;
}

function refusal(name: string, answer: ServiceAnswer, isClear: boolean): CheckResult {
  const { ok, warning } = resultsOf(name);
  const detail = shapeOf(answer);
  if (isClear) return ok(detail);
  return warning(detail, 'This is not a refusal as in RFC 6749, so Parley needs longer to recognise it');
}
