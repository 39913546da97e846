import { CodedError } from '../shared/coded-error.ts';

/**
 * Errors of the messenger. For the HTTP status of each code see `http/answer-error.ts`.
 * - `not_found`: no such person, conversation, message, upload or frame
 * - `bad_request`: an invalid request
 * - `foreign_origin`: a page of another origin tried to act as a person
 * - `not_owner`: a browser without the cookie of the user who started Parley
 * - `image_too_large`, `image_unknown_type`, `file_too_large`: an upload that the app does not accept
 * - `not_taken`: the bot did not accept a button press
 * - `not_delivered`: the bot never accepted the message (the driver's `waitForAnswer`)
 * - `no_answer`: no finished answer within the time limit
 * - `too_soon`: the action is allowed again only after a while
 * - `crypto_broken`: a sealed text that cannot be opened
 */
export type MessengerErrorCode =
  | 'not_found'
  | 'bad_request'
  | 'foreign_origin'
  | 'not_owner'
  | 'image_too_large'
  | 'image_unknown_type'
  | 'file_too_large'
  | 'not_taken'
  | 'not_delivered'
  | 'no_answer'
  | 'too_soon'
  | 'crypto_broken';

export class MessengerError extends CodedError<MessengerErrorCode> {}
