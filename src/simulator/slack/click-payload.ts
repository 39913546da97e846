import type { Conversation } from '../directory.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { SlackButton } from './read-buttons.ts';
import { APP_ID, BOT_ID, BOT_USER_ID, channelIdOf, memberIdOf, TEAM_ID } from './workspace.ts';

/** A button press, and the app's means to respond to it. */
export interface Click {
  personId: string;
  button: SlackButton;
  /** A `ts`. */
  actionTs: string;
  responseUrl: string;
  triggerId: string;
}

/**
 * `block_actions`, which notifies an app of a button press (PLATFORM_FACTS.md slack-buttons). For an ephemeral message it
 * contains only the message's `ts`.
 */
export function clickPayload(message: StoredMessage, conversation: Conversation, click: Click): object {
  const { personId, button, actionTs, responseUrl, triggerId } = click;
  const { ts, threadTs, blocks, raw } = message.slack ?? { ts: '' };
  const channelId = channelIdOf(conversation);
  const isEphemeral = message.onlyFor !== undefined;
  return {
    type: 'block_actions',
    user: { id: memberIdOf(personId), username: personId, name: personId, team_id: TEAM_ID },
    api_app_id: APP_ID,
    container: {
      ...{ type: 'message', message_ts: ts, channel_id: channelId },
      ...{ is_ephemeral: isEphemeral, thread_ts: threadTs },
    },
    trigger_id: triggerId,
    team: { id: TEAM_ID, domain: 'parley-local' },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channelId, name: conversation.kind === 'private' ? 'directmessage' : conversation.name },
    message: isEphemeral
      ? undefined
      : {
          ...{ type: 'message', user: BOT_USER_ID, bot_id: BOT_ID, app_id: APP_ID, team: TEAM_ID },
          ...{ ts, thread_ts: threadTs, text: raw ?? message.text, blocks: blocks ?? [] },
        },
    state: { values: {} },
    response_url: responseUrl,
    actions: [{ ...button.action, action_ts: actionTs }],
  };
}
