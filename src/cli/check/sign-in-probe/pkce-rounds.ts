import { codeChallengeOf, newCodeVerifier } from '../../../bot/identity/oauth/pkce.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { shapeOf } from './answer-shape.ts';
import { leaveWith, type ProbeTools, type Round } from './round.ts';
import type { ServiceAnswer } from './service-calls.ts';
import { codeVerdict, type CodeVerdict } from './tokens-in.ts';

const NOT_TRIED = { verdict: 'warning', nextStep: 'Run the probe again' } as const;

/** Whether the service minds parameters that it does not know, and what it makes of PKCE (RFC 7636). */
export function pkceRounds(tools: ProbeTools): Round[] {
  return [toleratedParameters(tools), wrongVerifier(tools), unaskedVerifier(tools)];
}

/** Parley always sends PKCE's parameters, so a service has to bear at least those. */
function toleratedParameters(tools: ProbeTools): Round {
  const verifier = verifierOf(tools);
  const nextStep = 'Tell who runs the sign-in service: clients must be able to send PKCE (RFC 7636)';
  return {
    title: { en: 'A sign-in with more parameters', zh: '带附加参数的登录' },
    leave: leaveWith(tools, { ...challengeOf(verifier), parley_probe: '1' }),
    isNeeded: () => true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code, verifier });
      tools.facts.toleratesParameters = codeVerdict(answer, tools.secrets) === 'accepted';
      if (tools.facts.toleratesParameters)
        return [{ name: 'More parameters', verdict: 'ok', detail: 'an unknown one and PKCE are tolerated' }];
      return [
        {
          name: 'More parameters',
          verdict: 'fault',
          detail: `the code gives no tokens (${shapeOf(answer)})`,
          nextStep,
        },
      ];
    },
    cameToNothing(how) {
      tools.facts.toleratesParameters = false;
      return [{ name: 'More parameters', verdict: 'fault', detail: how, nextStep }];
    },
  };
}

function wrongVerifier(tools: ProbeTools): Round {
  const name = 'Wrong verifier';
  return {
    title: { en: 'A wrong PKCE verifier', zh: '错误的 PKCE 校验码' },
    leave: leaveWith(tools, challengeOf(verifierOf(tools))),
    isNeeded: () => tools.facts.toleratesParameters === true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code, verifier: verifierOf(tools) });
      const verdict = codeVerdict(answer, tools.secrets);
      tools.facts.refusesWrongVerifier = verdict === 'refused';
      return [judge(tools, name, { verdict, answer, accepted: 'accepted: the service ignores PKCE' })];
    },
    cameToNothing: (how) => [{ name, detail: how, ...NOT_TRIED }],
  };
}

/** An attacker's own code has no challenge at all, unless they add one: PKCE protects only where that is refused too. */
function unaskedVerifier(tools: ProbeTools): Round {
  const name = 'Verifier without challenge';
  return {
    title: { en: 'A PKCE verifier without a challenge', zh: '未声明校验的 PKCE 校验码' },
    leave: leaveWith(tools),
    isNeeded: () => tools.facts.refusesWrongVerifier === true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code, verifier: verifierOf(tools) });
      const verdict = codeVerdict(answer, tools.secrets);
      tools.facts.refusesUnaskedVerifier = verdict === 'refused';
      const accepted = 'accepted: PKCE does not stop a code that was obtained without it';
      return [judge(tools, name, { verdict, answer, accepted })];
    },
    cameToNothing: (how) => [{ name, detail: how, ...NOT_TRIED }],
  };
}

interface Judged {
  verdict: CodeVerdict;
  answer: ServiceAnswer;
  /** What acceptance means, in words. */
  accepted: string;
}

/** PKCE is no part of the specification: that it does not protect matters only where `state` does not either. */
function judge({ facts }: ProbeTools, name: string, { verdict, answer, accepted }: Judged): CheckResult {
  const shape = shapeOf(answer);
  if (verdict === 'refused') return { name, verdict: 'ok', detail: `refused (${shape})` };
  const detail = verdict === 'accepted' ? accepted : `no clear refusal (${shape})`;
  if (facts.state.echoed > 0) return { name, verdict: 'ok', detail: `${detail}; state protects sign-ins` };
  return { name, verdict: 'warning', detail, nextStep: 'Have same-id in SIGN_IN_PROOF, since state is absent too' };
}

function verifierOf({ secrets }: ProbeTools): string {
  const verifier = newCodeVerifier();
  secrets.add(verifier);
  return verifier;
}

function challengeOf(verifier: string): Record<string, string> {
  return { code_challenge: codeChallengeOf(verifier), code_challenge_method: 'S256' };
}
