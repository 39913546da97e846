import type { CheckResult } from '../platforms/platform.ts';
import { requestForCheck } from './check-request.ts';

export interface SignInCheckOptions {
  /** The sign-in interface's base address. */
  authUrl: string;
  clientId: string;
  publicUrl: string;
}

const NAME = 'Sign-in service';

/** Opens the sign-in page as a browser would; nobody signs in. The client's secret is proven by a real sign-in only. */
export async function checkSignIn({ authUrl, clientId, publicUrl }: SignInCheckOptions): Promise<CheckResult[]> {
  const redirectUri = `${publicUrl}/oauth/callback`;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: 'check',
  });
  const answer = await requestForCheck(`${authUrl}/oauth2.0/authorize?${query.toString()}`);
  if ('code' in answer) {
    const nextStep = 'See that SIGN_IN_URL is right and that this machine reaches it';
    return [{ name: NAME, verdict: 'fault', detail: `cannot be reached (${answer.code})`, nextStep }];
  }
  if (answer.status >= 500) {
    return [
      {
        name: NAME,
        verdict: 'fault',
        detail: `answers ${answer.status}`,
        nextStep: 'Ask who runs the sign-in service',
      },
    ];
  }
  if (answer.status === 404) {
    const detail = `nothing is at ${authUrl}/oauth2.0/authorize (404)`;
    return [
      { name: NAME, verdict: 'fault', detail, nextStep: 'Correct SIGN_IN_URL: /oauth2.0/authorize is added to it' },
    ];
  }
  if (answer.status >= 400) {
    const nextStep = `Register the client SIGN_IN_CLIENT_ID with the redirect address ${redirectUri}`;
    return [{ name: NAME, verdict: 'warning', detail: `answers ${answer.status} to our client and address`, nextStep }];
  }
  const nextStep = 'To try a real sign-in: npm run check -- --sign-in';
  return [{ name: NAME, verdict: 'ok', detail: 'shows its sign-in page for our client and address', nextStep }];
}
