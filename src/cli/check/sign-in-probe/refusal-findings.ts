import { randomToken } from '../../../shared/crypto/ids.ts';
import { classifyRefusal } from '../../../bot/identity/oauth/token-response.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { shapeOf } from './answer-shape.ts';
import type { ServiceAnswer, ServiceCalls } from './service-calls.ts';

/**
 * Tests the service's error responses, by which Parley distinguishes an invalid sign-in from a temporary failure
 * (SECURITY.md refresh-outcomes).
 */
export async function refusalsOf(calls: ServiceCalls): Promise<CheckResult[]> {
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
  const detail = shapeOf(answer);
  if (isClear) return { name, verdict: 'ok', detail };
  return {
    name,
    verdict: 'warning',
    detail,
    nextStep: 'This is not a refusal as in RFC 6749, so Parley needs longer to recognise it',
  };
}
