import { SECOND_MS } from '../../../shared/clock.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { resultsOf } from '../results-of.ts';
import { shapeOf } from './answer-shape.ts';
import { leaveWith, notTried, type ProbeTools, type Round } from './round.ts';
import { codeVerdict, type CodeVerdict } from './tokens-in.ts';

/** One sign-in per age, because testing the age of a code uses it up. Ages count from the arrival of the callback. */
export function codeAgeRounds(tools: ProbeTools): Round[] {
  return tools.codeAgesMs.map((ageMs) => codeAgeRound(tools, ageMs));
}

function codeAgeRound(tools: ProbeTools, ageMs: number): Round {
  const ageSec = ageMs / SECOND_MS;
  const name = `Code after ${ageSec} s`;
  return {
    title: { en: `A code used after ${ageSec} s`, zh: `${ageSec} 秒之后才使用的授权码` },
    startRedirect: leaveWith(tools),
    isNeeded: () => true,
    async run({ code, arrivedAtMs }) {
      await tools.wait(arrivedAtMs + ageMs - performance.now());
      const answer = await tools.calls.exchange({ code });
      const verdict = codeVerdict(answer, tools.secrets);
      return [judgeAge({ name, verdict, isDue: ageMs < tools.codeLifeMs, shape: shapeOf(answer) })];
    },
    onNoCode: notTried(name),
  };
}

interface AgedCode {
  name: string;
  verdict: CodeVerdict;
  /** Whether the code must still work according to the specification. */
  isDue: boolean;
  shape: string;
}

function judgeAge({ name, verdict, isDue, shape }: AgedCode): CheckResult {
  const { ok, warning } = resultsOf(name);
  const works = verdict === 'accepted';
  if (verdict === 'unclear')
    return warning(`no clear refusal (${shape})`, 'Contact the operator of the sign-in service');
  if (works && isDue) return ok('works');
  if (!works && !isDue) return ok(`refused (${shape})`);
  if (works) {
    const nextStep = 'Report this to the operator of the sign-in service; Parley itself uses each code immediately';
    return warning('works, though the specification allows 10 s', nextStep);
  }
  const nextStep = 'Ensure a fast connection between Parley and the sign-in service, because its codes expire early';
  return warning(`already refused (${shape})`, nextStep);
}
