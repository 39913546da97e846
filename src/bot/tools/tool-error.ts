import { CodedError } from '../../shared/coded-error.ts';

/** `refused`: not permitted; `unusable`: no usable content; `unreachable`: another service failed. */
export type ToolErrorCode = 'refused' | 'unusable' | 'unreachable';

/** Reason why a tool returns no result. Only the model reads the message, which contains no internal address and no key. */
export class ToolError extends CodedError<ToolErrorCode> {}
