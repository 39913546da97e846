import { fieldsOf } from '../../../shared/parse-json.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

const TIMEOUT_MS = 3 * SECOND_MS;

/** A person's display name in Slack, else their full name. Undefined if the app may not read it. */
export async function displayNameOf(api: SlackApi, userId: string): Promise<string | undefined> {
  const answer = await api.call('users.info', { user: userId }, TIMEOUT_MS);
  return answer.kind === 'ok' ? displayNameIn(answer.body['user']) : undefined;
}

/** The display name in one of Slack's user objects, else the full name. */
export function displayNameIn(object: unknown): string | undefined {
  const user = fieldsOf(object);
  const profile = fieldsOf(user['profile']);
  const names = [profile['display_name'], profile['real_name'], user['real_name']];
  return names.map(textOf).find((name) => name !== undefined && name.trim() !== '');
}
