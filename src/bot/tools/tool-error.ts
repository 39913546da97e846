import { CodedError } from '../../shared/coded-error.ts';

/** `refused`: it may not be done; `unusable`: there is nothing to use; `unreachable`: another service failed. */
export type ToolErrorCode = 'refused' | 'unusable' | 'unreachable';

/** Why a tool gives no result. The message goes to the model and to nobody else; it holds no address inside and no key. */
export class ToolError extends CodedError<ToolErrorCode> {}
