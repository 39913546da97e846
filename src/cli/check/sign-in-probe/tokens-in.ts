import { asError } from '../../../shared/coded-error.ts';
import { readJsonObject } from '../../../shared/sign-in/json-answer.ts';
import { readTokenResponse, type TokenSet } from '../../../bot/identity/oauth/token-response.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { ServiceAnswer } from './service-calls.ts';

/** The tokens of an answer as a sign-in of ours would take them, or why it would not. They become known secrets. */
export function tokensIn(answer: ServiceAnswer, secrets: KnownSecrets): TokenSet | { refusal: string } {
  learnTokens(answer.body, secrets);
  try {
    return readTokenResponse(answer, 'auto');
  } catch (error) {
    return { refusal: asError(error).message };
  }
}

/** What a code exchange came to; `unclear` where the service neither gave tokens nor clearly refused. */
export type CodeVerdict = 'accepted' | 'refused' | 'unclear';

const NOT_ABOUT_THE_CODE = [408, 429];

/** Judges the answer to a code that may be refused. A fault of the service is not taken for a refusal: nothing was shown by it. */
export function codeVerdict(answer: ServiceAnswer, secrets: KnownSecrets): CodeVerdict {
  if (!('refusal' in tokensIn(answer, secrets))) return 'accepted';
  const isError = readJsonObject(answer.body)?.['error'] !== undefined;
  const isClear = answer.status >= 400 && answer.status < 500 && !NOT_ABOUT_THE_CODE.includes(answer.status);
  return isClear || (answer.status === 200 && isError) ? 'refused' : 'unclear';
}

/** Tokens in answers that are no use to us must not be shown either. */
function learnTokens(body: string, secrets: KnownSecrets): void {
  for (const [, value = ''] of body.matchAll(
    /(?:access_token|refresh_token|id_token)["']?\s*[=:]\s*["']?([^"'&\s,}]+)/g,
  ))
    secrets.add(value);
}
