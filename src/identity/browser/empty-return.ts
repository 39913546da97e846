import { sha256Hex } from '../../base/ids.ts';
import { returnedPage, signedOutPage } from '../pages/closing-pages.ts';
import type { BrowserRequest, PageOutcome, SignInFlow } from './flow.ts';
import { MAX_QUERY_CHARS } from './request-guards.ts';

/**
 * Who signs out at the service (`/unlink` offers that way) comes back to its registered address too: at once, or after signing in
 * there again. They bring nothing of a sign-in here. A browser that is signing in has something to bring, so a way back that lost
 * it is none.
 * @returns the page that says what is so; undefined for every other return. @throws IdentityError `store_away`
 */
export async function readEmptyReturn(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome | undefined> {
  const { querystring, cookie, language, userAgent } = request;
  if (!isEmpty(flow, querystring)) return undefined;
  if (cookie !== undefined && (await flow.transactions.peek(sha256Hex(cookie)))) return undefined;
  const back = flow.backTo(userAgent);
  const page = flow.dialect.returnsOnlySignedOut
    ? signedOutPage({ language, back })
    : returnedPage({ language, back, providerName: flow.providerName });
  return { kind: 'page', back, page };
}

/** What else a service adds to every address (CAS its ticket, a language) says nothing. */
function isEmpty({ dialect }: SignInFlow, querystring: string): boolean {
  if (querystring.length > MAX_QUERY_CHARS) return false;
  const query = new URLSearchParams(querystring);
  return [dialect.returns.name, 'state', 'error'].every((name) => !query.has(name));
}
