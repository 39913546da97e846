import { SECOND_MS } from '../../../shared/clock.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { shapeOf } from './answer-shape.ts';
import { leaveWith, type ProbeTools, type Round } from './round.ts';
import { codeVerdict, type CodeVerdict } from './tokens-in.ts';

/** One sign-in for each age: how old a code may be is seen only with a code of its own. Counted from its arrival here. */
export function codeAgeRounds(tools: ProbeTools): Round[] {
  return tools.codeAgesMs.map((ageMs) => codeAgeRound(tools, ageMs));
}

function codeAgeRound(tools: ProbeTools, ageMs: number): Round {
  const ageSec = ageMs / SECOND_MS;
  const name = `Code after ${ageSec} s`;
  return {
    title: { en: `A code that is used after ${ageSec} s`, zh: `${ageSec} 秒之后才使用的授权码` },
    leave: leaveWith(tools),
    isNeeded: () => true,
    async run({ code, arrivedAtMs }) {
      await tools.wait(arrivedAtMs + ageMs - performance.now());
      const answer = await tools.calls.exchange({ code });
      const verdict = codeVerdict(answer, tools.secrets);
      return [judgeAge({ name, verdict, isDue: ageMs < tools.codeLifeMs, shape: shapeOf(answer) })];
    },
    cameToNothing: (how) => [{ name, verdict: 'warning', detail: how, nextStep: 'Run the probe again' }],
  };
}

interface AgedCode {
  name: string;
  verdict: CodeVerdict;
  /** Whether the specification says that it still works. */
  isDue: boolean;
  shape: string;
}

function judgeAge({ name, verdict, isDue, shape }: AgedCode): CheckResult {
  const works = verdict === 'accepted';
  if (verdict === 'unclear') {
    const detail = `no clear refusal (${shape})`;
    return { name, verdict: 'warning', detail, nextStep: 'Ask who runs the sign-in service' };
  }
  if (works && isDue) return { name, verdict: 'ok', detail: 'works' };
  if (!works && !isDue) return { name, verdict: 'ok', detail: `refused (${shape})` };
  if (works) {
    const nextStep = 'Tell who runs the sign-in service; Parley itself uses each code at once';
    return { name, verdict: 'warning', detail: 'works, though the specification allows 10 s', nextStep };
  }
  const nextStep = 'Keep the way between Parley and the sign-in service fast: codes die early there';
  return { name, verdict: 'warning', detail: `refused already (${shape})`, nextStep };
}
