import { ProviderError, type ProviderErrorCode } from '../../../shared/sign-in/provider-error.ts';
import { IdentityError, type IdentityErrorCode } from '../identity-error.ts';

const CODES: Readonly<Record<ProviderErrorCode, IdentityErrorCode>> = {
  declined: 'service_refused',
  lost: 'service_refused',
  failed: 'service_refused',
  timeout: 'service_timeout',
  unreachable: 'service_unreachable',
  profile_unusable: 'profile_broken',
};

/** Converts errors of the identity provider to identity errors. @throws IdentityError */
export async function withIdentityErrors<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof ProviderError ? new IdentityError(CODES[thrown.code], thrown.message) : thrown;
  }
}
