import { sha256Hex } from '../../../shared/crypto/ids.ts';
import type { Bilingual } from '../../../shared/text/texts.ts';
import type { SignInDialect } from '../providers/provider.ts';
import { returnedPage, signedOutPage } from '../pages/closing-pages.ts';
import type { Transactions } from '../invitations/transactions.ts';
import type { ChatApps } from './chat-apps.ts';
import { MAX_QUERY_CHARS } from './request-guards.ts';
import type { BrowserRequest, PageOutcome } from './step.ts';

/**
 * Who signs out at the service (`/unlink` offers that way) comes back to its registered address too: at once, or after signing in
 * there again. They bring nothing of a sign-in here. A browser that is signing in has something to bring, so a way back that lost
 * it is none.
 * @returns the page that says what is so; undefined for every other return. @throws IdentityError `store_away`
 */
export type ReadEmptyReturn = (request: BrowserRequest) => Promise<PageOutcome | undefined>;

export interface EmptyReturnParts {
  dialect: Pick<SignInDialect, 'returns' | 'returnsOnlySignedOut'>;
  transactions: Pick<Transactions, 'peek'>;
  apps: Pick<ChatApps, 'backTo'>;
  providerName: Bilingual;
}

export function createReadEmptyReturn(parts: EmptyReturnParts): ReadEmptyReturn {
  const { dialect, transactions, apps, providerName } = parts;
  return async ({ querystring, cookie, language, userAgent }) => {
    if (!isEmpty(dialect, querystring)) return undefined;
    if (cookie !== undefined && (await transactions.peek(sha256Hex(cookie)))) return undefined;
    const back = apps.backTo(userAgent);
    const page = dialect.returnsOnlySignedOut
      ? signedOutPage({ language, back })
      : returnedPage({ language, back, providerName });
    return { kind: 'page', back, page };
  };
}

/** What else a service adds to every address (CAS its ticket, a language) says nothing. */
function isEmpty({ returns }: Pick<SignInDialect, 'returns'>, querystring: string): boolean {
  if (querystring.length > MAX_QUERY_CHARS) return false;
  const query = new URLSearchParams(querystring);
  return [returns.name, 'state', 'error'].every((name) => !query.has(name));
}
