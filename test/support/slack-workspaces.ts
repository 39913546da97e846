import { expect } from '@jest/globals';
import type { SlackDeployment } from './slack-deployment.ts';

/** A second workspace; its people and channels may have the same ids as those of the first. */
export const SECOND_TEAM = 'T2SECOND';

/** The settings that allow the app's installation there. */
export const MORE_WORKSPACES = {
  SLACK_MORE_WORKSPACES: SECOND_TEAM,
  SLACK_CLIENT_ID: '1234567890.9876543210',
  SLACK_CLIENT_SECRET: 'client-secret-of-the-slack-app',
};

type Place = Pick<SlackDeployment, 'botUrl' | 'slack'>;

export const tokenOf = (team: string) => `xoxb-${team}-installed`;

/** Slack's result of an administrator's consent. */
export function consentOf(team: string, more: object = {}): object {
  return {
    ...{ access_token: tokenOf(team), token_type: 'bot', bot_user_id: 'UBOT', app_id: 'A1' },
    ...{ team: { id: team, name: 'Second' }, enterprise: null, is_enterprise_install: false },
    ...more,
  };
}

/** Opens the installation page like a browser. @returns the cookie, and the redirect target */
export async function beginInstall({ botUrl }: Pick<Place, 'botUrl'>): Promise<{ cookie: string; asked: URL }> {
  const answer = await fetch(`${botUrl}/install/slack`, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { cookie, asked: new URL(answer.headers.get('location') ?? '') };
}

/** Returns from Slack. */
export async function comeBack(
  { botUrl }: Pick<Place, 'botUrl'>,
  query: Record<string, string>,
  cookie = '',
): Promise<{ status: number; text: string }> {
  const url = `${botUrl}/oauth/platform/slack/installed?${new URLSearchParams(query).toString()}`;
  const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
  return { status: answer.status, text: await answer.text() };
}

/** An administrator installs the app in a workspace through the public pages. */
export async function installIn(place: Place, team: string): Promise<void> {
  const { slack } = place;
  slack.workspaces.set(tokenOf(team), team);
  slack.consents.set('consent', consentOf(team));
  const { cookie, asked } = await beginInstall(place);
  const state = asked.searchParams.get('state') ?? '';
  const { status } = await comeBack(place, { code: 'consent', state }, cookie);
  expect(status).toBe(200);
}
