import { CodedError } from '../../shared/coded-error.ts';

/** Slack's words for what a call did wrong; they come as `error` beside `ok:false` with status 200. */
export type SlackFaultCode =
  | 'not_authed'
  | 'invalid_auth'
  | 'unknown_method'
  | 'invalid_json'
  | 'invalid_form_data'
  | 'invalid_arguments'
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

/** What a bot that keeps the rules meets too: time went by, or a person acted. */
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
