import type { RefusalTable } from '../write-meaning.ts';

/**
 * Meanings of Slack's error codes for a write (PLATFORM_FACTS.md slack-errors). Temporary are `rate-limited`,
 * `unauthorised` until the operator repairs the app (the answer is kept for a day), and every code that is not listed
 * (`transient`). HTTP statuses are judged in `platform-api.ts`.
 */
export const SLACK_MEANINGS: RefusalTable = {
  every: {
    'rate-limited': ['ratelimited', 'rate_limited'],
    // Slack failed in the middle of the call.
    'unknown-fate': ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'],
    // The token, its scopes, or the app in this workspace is at fault.
    unauthorised: [
      'access_denied',
      'account_inactive',
      'app_uninstalled',
      'ekm_access_denied',
      'invalid_auth',
      'invalid_auth_header',
      'missing_scope',
      'no_permission',
      'not_allowed_token_type',
      'not_authed',
      'org_login_required',
      'team_access_not_granted',
      'token_expired',
      'token_revoked',
      'two_factor_setup_required',
    ],
    stopped: ['stopped_by_user'],
    snapshot: [
      'block_mismatch',
      'invalid_arg_name',
      'invalid_arguments',
      'invalid_array_arg',
      'invalid_blocks',
      'invalid_blocks_format',
      'invalid_form_data',
      'invalid_metadata_format',
      'invalid_metadata_schema',
      'markdown_text_conflict',
      'metadata_must_be_sent_from_app',
      'metadata_too_large',
      'msg_blocks_too_long',
      'msg_too_long',
      'no_text',
      'too_many_attachments',
    ],
    method: [
      'cant_delete_message',
      'cant_update_message',
      'compliance_exports_prevent_deletion',
      'cannot_reply_to_message',
      'channel_type_not_supported',
      'deprecated_endpoint',
      'edit_window_closed',
      'feature_not_enabled',
      'message_not_found',
      'message_not_found_in_streaming_state',
      'message_not_in_streaming_state',
      'method_deprecated',
      'method_not_supported_for_channel_type',
      'missing_recipient_team_id',
      'missing_recipient_user_id',
      'thread_not_found',
      'unknown_method',
    ],
    conversation: [
      'cannot_dm_bot',
      'channel_not_found',
      'is_archived',
      'messages_tab_disabled',
      'not_in_channel',
      'restricted_action',
      'restricted_action_non_threadable_channel',
      'restricted_action_read_only_channel',
      'restricted_action_thread_locked',
      'restricted_action_thread_only_channel',
      'team_not_found',
      'user_not_in_channel',
    ],
  },
};

/** Calls that show something to people. Refusals of other calls are neither logged nor counted as write refusals. */
const WRITE = /^(?:chat|files)\.(?!info$)/;

export function isWrite(method: string): boolean {
  return WRITE.test(method);
}
