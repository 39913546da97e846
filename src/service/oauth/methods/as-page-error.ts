import { ProviderError, type ProviderErrorCode } from '../../../shared/sign-in/provider-error.ts';
import { PageError, type PageErrorCode } from '../sign-in-errors.ts';

const PAGES: Readonly<Record<ProviderErrorCode, PageErrorCode>> = {
  declined: 'sign_in_declined',
  lost: 'sign_in_lost',
  failed: 'sign_in_failed',
  timeout: 'sign_in_failed',
  unreachable: 'sign_in_failed',
  profile_unusable: 'profile_unusable',
};

/** Maps a failure at the institution to its error page. @throws PageError */
export async function withPageErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof ProviderError ? new PageError(PAGES[thrown.code], thrown.message) : thrown;
  }
}
