import { SECOND_MS } from '../../../shared/clock.ts';
import type { SlackApi } from './platform-api.ts';
import { fieldsOf } from './body-fields.ts';
import { textOf } from './post-answer.ts';

const TIMEOUT_MS = 3 * SECOND_MS;

/** A person's display name in Slack, else their full name. Undefined if the app may not read it. */
export async function displayNameOf(api: SlackApi, userId: string): Promise<string | undefined> {
  const answer = await api.call('users.info', { user: userId }, TIMEOUT_MS);
  if (answer.kind !== 'ok') return undefined;
  const user = fieldsOf(answer.body['user']);
  const profile = fieldsOf(user['profile']);
  const names = [profile['display_name'], profile['real_name'], user['real_name']];
  return names.map(textOf).find((name) => name !== undefined && name.trim() !== '');
}
