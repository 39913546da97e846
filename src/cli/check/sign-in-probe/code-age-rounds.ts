import { SECOND_MS } from '../../../shared/clock.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { shapeOf } from './answer-shape.ts';
import { leaveWith, type ProbeTools, type Round } from './round.ts';
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
    onNoCode: (how) => [{ name, verdict: 'warning', detail: how, nextStep: 'Run the probe again' }],
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
  const works = verdict === 'accepted';
  if (verdict === 'unclear') {
    const detail = `no clear refusal (${shape})`;
    return { name, verdict: 'warning', detail, nextStep: 'Contact the operator of the sign-in service' };
  }
  if (works && isDue) return { name, verdict: 'ok', detail: 'works' };
  if (!works && !isDue) return { name, verdict: 'ok', detail: `refused (${shape})` };
  if (works) {
    const nextStep = 'Report this to the operator of the sign-in service; Parley itself uses each code immediately';
    return { name, verdict: 'warning', detail: 'works, though the specification allows 10 s', nextStep };
  }
  const nextStep = 'Ensure a fast connection between Parley and the sign-in service, because its codes expire early';
  return { name, verdict: 'warning', detail: `already refused (${shape})`, nextStep };
}
