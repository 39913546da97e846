import { startStandInService, type StandInService } from '../bot/identity/stand-in-service.ts';
import { TestBrowser, type Answer } from '../bot/identity/test-browser.ts';
import { untilTrue } from './deployment.ts';
import type { SlackDeployment } from './slack-deployment.ts';

export const LINK = /https?:\/\/\S+\/link\/[\w-]+/;

/** People of a Slack deployment who sign in: the id of each account equals the person's Slack id. */
export interface SlackSignIns {
  /** The settings by which the deployment's bots require a sign-in. */
  readonly env: Record<string, string>;
  /** Waits until a message of the bot shows this person a link. @returns the link */
  linkOf(userId: string, limitMs?: number): Promise<string>;
  /** Opens a link as its person. @returns the page whose button creates the account link */
  walkToConfirm(userId: string, link: string): Promise<Confirm>;
  close(): Promise<void>;
}

export interface Confirm {
  browser: TestBrowser;
  page: Answer;
  /** Presses the button. @returns the last page */
  press(): Promise<Answer>;
}

export async function startSlackSignIns(deployment: SlackDeployment): Promise<SlackSignIns> {
  const service: StandInService = await startStandInService();
  return {
    env: {
      SIGN_IN: 'required',
      SIGN_IN_PROOF: 'same-id',
      SIGN_IN_URL: service.authUrl,
      SIGN_IN_CLIENT_ID: service.clientId,
      SIGN_IN_CLIENT_SECRET: service.clientSecret,
    },
    async linkOf(userId, limitMs) {
      const shown = () => deployment.textsIn(`D${userId}`).flatMap((text) => LINK.exec(text) ?? []);
      await untilTrue(() => shown().length > 0, limitMs);
      return shown()[0] ?? '';
    },
    async walkToConfirm(userId, link) {
      const browser = new TestBrowser({ account: userId });
      const page = await browser.follow(await browser.submit(await browser.get(link)));
      return { browser, page, press: () => browser.submit(page, '/sign-in/confirm') };
    },
    close: () => service.close(),
  };
}
