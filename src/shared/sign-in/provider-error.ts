import { CodedError } from '../coded-error.ts';

/**
 * - `declined`: the person did not consent.
 * - `lost`: the return matches no started sign-in, or came late or twice.
 * - `failed`: the provider responded, but not as required.
 * - `timeout`, `unreachable`: the provider did not respond.
 * - `profile_unusable`: the claims do not yield a usable profile.
 */
export type ProviderErrorCode = 'declined' | 'lost' | 'failed' | 'timeout' | 'unreachable' | 'profile_unusable';

/** Contains nothing that was sent or received, only kinds of values (SECURITY.md secrets-stay-inside). */
export class ProviderError extends CodedError<ProviderErrorCode> {}
