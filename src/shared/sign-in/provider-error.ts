import { CodedError } from '../coded-error.ts';

/**
 * - `declined`: the person did not agree.
 * - `lost`: what came back belongs to no departure, or came late or again.
 * - `failed`: the provider answered, but not with what has to be there.
 * - `timeout`, `unreachable`: it gave no answer.
 * - `profile_unusable`: its claims give no usable profile.
 */
export type ProviderErrorCode = 'declined' | 'lost' | 'failed' | 'timeout' | 'unreachable' | 'profile_unusable';

/** Says nothing of what was sent or came: only names of kinds (SECURITY.md secrets-stay-inside). */
export class ProviderError extends CodedError<ProviderErrorCode> {}
