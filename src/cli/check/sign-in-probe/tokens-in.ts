import { asError } from '../../../shared/coded-error.ts';
import { readJsonObject } from '../../../shared/sign-in/json-answer.ts';
import { readTokenResponse, type TokenSet } from '../../../bot/identity/oauth/token-response.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { ServiceAnswer } from './service-calls.ts';

/**
 * Parses the tokens of a response as a sign-in does, or returns why it would refuse them. All tokens become known secrets.
 */
export function tokensIn(answer: ServiceAnswer, secrets: KnownSecrets): TokenSet | { refusal: string } {
  learnTokens(answer.body, secrets);
  try {
    return readTokenResponse(answer, 'auto');
  } catch (error) {
    return { refusal: asError(error).message };
  }
}

/** The outcome of a code exchange. `unclear`: neither tokens nor a clear refusal. */
export type CodeVerdict = 'accepted' | 'refused' | 'unclear';

const NOT_ABOUT_THE_CODE = [408, 429];

/** Classifies the response to a code that may be refused. A service failure proves nothing and is not a refusal. */
export function codeVerdict(answer: ServiceAnswer, secrets: KnownSecrets): CodeVerdict {
  if (!('refusal' in tokensIn(answer, secrets))) return 'accepted';
  const isError = readJsonObject(answer.body)?.['error'] !== undefined;
  const isClear = answer.status >= 400 && answer.status < 500 && !NOT_ABOUT_THE_CODE.includes(answer.status);
  return isClear || (answer.status === 200 && isError) ? 'refused' : 'unclear';
}

/** Tokens in unusable responses must not be shown either. */
function learnTokens(body: string, secrets: KnownSecrets): void {
  for (const [, value = ''] of body.matchAll(
    /(?:access_token|refresh_token|id_token)["']?\s*[=:]\s*["']?([^"'&\s,}]+)/g,
  ))
    secrets.add(value);
}
