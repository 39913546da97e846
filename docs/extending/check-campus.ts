import type { CheckResult } from '../../bot/platforms/platform.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';

const NAME = 'Sign-in service';

/** Whether the campus portal shows its sign-in page. */
export async function checkCampus(url: string): Promise<CheckResult[]> {
  const answer = await requestForCheck(`${url}/login`);
  if (!('code' in answer) && answer.status < 400)
    return [{ name: NAME, verdict: 'ok', detail: 'shows its sign-in page' }];
  const detail = 'code' in answer ? `cannot be reached (${answer.code})` : `answers ${answer.status}`;
  return [{ name: NAME, verdict: 'fault', detail, nextStep: 'Correct SIGN_IN_URL' }];
}
