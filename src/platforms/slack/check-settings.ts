import type { CheckResult } from '../platform.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

/** Asks Slack who the bot's token belongs to. */
export async function checkSlack(api: SlackApi): Promise<CheckResult[]> {
  const name = 'Slack bot';
  const answer = await api.call('auth.test', {});
  if (answer.kind === 'ok') {
    const detail = `${textOf(answer.body['user']) ?? 'the bot'} in ${textOf(answer.body['team']) ?? 'its workspace'}`;
    return [{ name, verdict: 'ok', detail }];
  }
  const error = 'error' in answer ? answer.error : undefined;
  return [
    {
      name,
      verdict: 'fault',
      detail: error === undefined ? 'Slack did not answer' : `Slack refuses the bot token (${error.slice(0, 64)})`,
      nextStep:
        error === undefined
          ? 'Check that this machine reaches SLACK_API_URL'
          : "Copy the Bot User OAuth Token from the app's OAuth & Permissions page into SLACK_BOT_TOKEN",
    },
  ];
}
