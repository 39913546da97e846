import type { CheckResult } from '../../bot/platforms/platform.ts';

/** Makes the results of a check, under its name. */
export function resultsOf(name: string) {
  const make =
    (verdict: CheckResult['verdict']) =>
    (detail: string, nextStep?: string): CheckResult => ({ name, verdict, detail, nextStep });
  return { ok: make('ok'), hint: make('hint'), warning: make('warning'), fault: make('fault') };
}
