import { CodedError } from '../../shared/coded-error.ts';

/** Slack's error codes for a call; sent as `error` with `ok:false` and status 200. */
export type SlackFaultCode =
  | 'not_authed'
  | 'invalid_auth'
  | 'unknown_method'
  | 'invalid_json'
  | 'invalid_form_data'
  | 'invalid_arguments'
  | 'invalid_cursor'
  | 'channel_not_found'
  | 'bot_not_found'
  | 'user_not_found'
  | 'user_not_in_channel'
  | 'file_not_found'
  | 'thread_not_found'
  | 'cannot_reply_to_message'
  | 'no_text'
  | 'msg_too_long'
  | 'markdown_text_conflict'
  | 'invalid_blocks'
  | 'msg_blocks_too_long'
  | 'invalid_metadata_format'
  | 'message_not_found'
  | 'cant_update_message'
  | 'message_not_in_streaming_state'
  | 'stopped_by_user'
  | 'missing_recipient_user_id'
  | 'missing_recipient_team_id';

export class SlackFault extends CodedError<SlackFaultCode> {
  constructor(code: SlackFaultCode) {
    super(code, `Slack refuses the call (${code})`);
  }
}

/** Errors that also occur to a bot that follows the rules, because time has passed or a person has acted. */
const NO_VIOLATION = new Set<SlackFaultCode>([
  'message_not_in_streaming_state',
  'stopped_by_user',
  'user_not_found',
  'user_not_in_channel',
  'thread_not_found',
]);

export function isViolation({ code }: SlackFault): boolean {
  return !NO_VIOLATION.has(code);
}
