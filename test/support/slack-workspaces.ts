import { expect } from '@jest/globals';
import type { SlackDeployment } from './slack-deployment.ts';

/** A second workspace; the people and channels there may have the ids of the first one's. */
export const SECOND_TEAM = 'T2SECOND';

/** What a bot is told so that the app may be installed there. */
export const MORE_WORKSPACES = {
  SLACK_MORE_WORKSPACES: SECOND_TEAM,
  SLACK_CLIENT_ID: '1234567890.9876543210',
  SLACK_CLIENT_SECRET: 'client-secret-of-the-slack-app',
};

type Place = Pick<SlackDeployment, 'botUrl' | 'slack'>;

export const tokenOf = (team: string) => `xoxb-${team}-installed`;

/** What Slack gives for an administrator's consent. */
export function consentOf(team: string, more: object = {}): object {
  return {
    ...{ access_token: tokenOf(team), token_type: 'bot', bot_user_id: 'UBOT', app_id: 'A1' },
    ...{ team: { id: team, name: 'Second' }, enterprise: null, is_enterprise_install: false },
    ...more,
  };
}

/** Opens the installation page as a browser does. @returns the cookie, and where it leads */
export async function beginInstall({ botUrl }: Pick<Place, 'botUrl'>): Promise<{ cookie: string; asked: URL }> {
  const answer = await fetch(`${botUrl}/install/slack`, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { cookie, asked: new URL(answer.headers.get('location') ?? '') };
}

/** Comes back from Slack. */
export async function comeBack(
  { botUrl }: Pick<Place, 'botUrl'>,
  query: Record<string, string>,
  cookie = '',
): Promise<{ status: number; text: string }> {
  const url = `${botUrl}/oauth/platform/slack/installed?${new URLSearchParams(query).toString()}`;
  const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
  return { status: answer.status, text: await answer.text() };
}

/** An administrator of a workspace installs the app, through the front door. */
export async function installIn(place: Place, team: string): Promise<void> {
  const { slack } = place;
  slack.workspaces.set(tokenOf(team), team);
  slack.consents.set('consent', consentOf(team));
  const { cookie, asked } = await beginInstall(place);
  const state = asked.searchParams.get('state') ?? '';
  const { status } = await comeBack(place, { code: 'consent', state }, cookie);
  expect(status).toBe(200);
}
