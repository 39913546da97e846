import { codeChallengeOf, newCodeVerifier } from '../../../bot/identity/oauth/pkce.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { resultsOf } from '../results-of.ts';
import { shapeOf } from './answer-shape.ts';
import { leaveWith, notTried, type ProbeTools, type Round } from './round.ts';
import type { ServiceAnswer } from './service-calls.ts';
import { codeVerdict, type CodeVerdict } from './tokens-in.ts';

/** Tests whether the service tolerates unknown parameters, and how it handles PKCE (RFC 7636). */
export function pkceRounds(tools: ProbeTools): Round[] {
  return [toleratedParameters(tools), wrongVerifier(tools), unaskedVerifier(tools)];
}

/** Parley always sends PKCE parameters, so a service must at least tolerate them. */
function toleratedParameters(tools: ProbeTools): Round {
  const verifier = verifierOf(tools);
  const { ok, fault } = resultsOf('Additional parameters');
  const nextStep = 'Report this to the operator of the sign-in service: clients must be able to send PKCE (RFC 7636)';
  return {
    title: { en: 'A sign-in with additional parameters', zh: '带附加参数的登录' },
    startRedirect: leaveWith(tools, { ...challengeOf(verifier), parley_probe: '1' }),
    isNeeded: () => true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code, verifier });
      tools.facts.toleratesParameters = codeVerdict(answer, tools.secrets) === 'accepted';
      if (tools.facts.toleratesParameters) return [ok('an unknown parameter and PKCE are accepted')];
      return [fault(`the code returns no tokens (${shapeOf(answer)})`, nextStep)];
    },
    onNoCode(how) {
      tools.facts.toleratesParameters = false;
      return [fault(how, nextStep)];
    },
  };
}

function wrongVerifier(tools: ProbeTools): Round {
  const name = 'Wrong verifier';
  return {
    title: { en: 'A wrong PKCE verifier', zh: '错误的 PKCE 校验码' },
    startRedirect: leaveWith(tools, challengeOf(verifierOf(tools))),
    isNeeded: () => tools.facts.toleratesParameters === true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code, verifier: verifierOf(tools) });
      const verdict = codeVerdict(answer, tools.secrets);
      tools.facts.refusesWrongVerifier = verdict === 'refused';
      return [judge(tools, name, { verdict, answer, accepted: 'accepted: the service ignores PKCE' })];
    },
    onNoCode: notTried(name),
  };
}

/** A code obtained by an attacker has no challenge, so PKCE protects only if a verifier without a challenge is refused. */
function unaskedVerifier(tools: ProbeTools): Round {
  const name = 'Verifier without challenge';
  return {
    title: { en: 'A PKCE verifier without a challenge', zh: '未声明 challenge 的 PKCE 校验码' },
    startRedirect: leaveWith(tools),
    isNeeded: () => tools.facts.refusesWrongVerifier === true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code, verifier: verifierOf(tools) });
      const verdict = codeVerdict(answer, tools.secrets);
      tools.facts.refusesUnaskedVerifier = verdict === 'refused';
      const accepted = 'accepted: PKCE does not protect codes that were requested without it';
      return [judge(tools, name, { verdict, answer, accepted })];
    },
    onNoCode: notTried(name),
  };
}

interface Judged {
  verdict: CodeVerdict;
  answer: ServiceAnswer;
  /** Text for the verdict `accepted`. */
  accepted: string;
}

/** PKCE is not part of the specification. Its absence matters only if `state` does not protect either. */
function judge({ facts }: ProbeTools, name: string, { verdict, answer, accepted }: Judged): CheckResult {
  const { ok, warning } = resultsOf(name);
  const shape = shapeOf(answer);
  if (verdict === 'refused') return ok(`refused (${shape})`);
  const detail = verdict === 'accepted' ? accepted : `not clearly refused (${shape})`;
  if (facts.state.echoed > 0) return ok(`${detail}; state protects sign-ins`);
  return warning(detail, 'Include same-id in SIGN_IN_PROOF, because state is absent too');
}

function verifierOf({ secrets }: ProbeTools): string {
  const verifier = newCodeVerifier();
  secrets.add(verifier);
  return verifier;
}

function challengeOf(verifier: string): Record<string, string> {
  return { code_challenge: codeChallengeOf(verifier), code_challenge_method: 'S256' };
}
