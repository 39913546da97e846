import type { Claims } from '../../../shared/sign-in/person-from-claims.ts';
import { ProviderError } from '../../../shared/sign-in/provider-error.ts';
import { PlatformError } from '../platform-error.ts';
import type { WebSignIn } from '../platform.ts';
import { createOpenIdClient, type SlackAddresses, type SlackClient } from './open-id.ts';
import type { AppIdentity } from './own-app.ts';

const USER = 'https://slack.com/user_id';
const TEAM = 'https://slack.com/team_id';
const ENTERPRISE = 'https://slack.com/enterprise_id';

interface Parts {
  client: SlackClient;
  addresses: SlackAddresses;
  ownApp: AppIdentity;
  tenant: string;
}

/**
 * Sign in with Slack: works in any browser, and identifies the person and their workspace
 * (PLATFORM_FACTS.md slack-web-sign-in).
 */
export function createWebSignIn({ client, addresses, ownApp, tenant }: Parts): WebSignIn {
  const openId = createOpenIdClient(client, addresses);
  return {
    needsAppBrowser: false,
    async startAuthorization({ redirectUri, state }) {
      // Skips Slack's workspace selection for a person who is signed in to several workspaces.
      const more = { team: await ownApp.team() };
      return orPlatformError(() => openId.startAuthorization({ callbackUrl: redirectUri, state, more }));
    },
    async identify({ redirectUri, state, query, kept }) {
      const { token, told } = await orPlatformError(async () => {
        const { accessToken, claims } = await openId.redeem({ callbackUrl: redirectUri, state, query, kept });
        const told = await openId.userInfo(accessToken, claims.sub);
        return { token: claims, told };
      });
      const userId = agreed(token, told, USER);
      const teamId = agreed(token, told, TEAM);
      if (userId === undefined || teamId === undefined)
        throw new PlatformError('refused', 'Slack’s sign-in returned no user or no workspace');
      if (await ownApp.isOwnWorkspace({ teamId, enterpriseId: agreed(token, told, ENTERPRISE) }))
        return { userId, tenant };
      throw new PlatformError('not_a_member', 'The person signed in to another workspace');
    },
  };
}

/** The value on which the id token and the user info agree, or that of either alone. @throws PlatformError if they differ */
function agreed(token: Claims, told: Claims, name: string): string | undefined {
  const said = [token[name], told[name]].filter((value) => typeof value === 'string' && value !== '') as string[];
  if (new Set(said).size > 1)
    throw new PlatformError('refused', 'Slack’s sign-in returned two users or two workspaces');
  return said[0];
}

async function orPlatformError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ProviderError)) throw thrown;
    const isAway = thrown.code === 'timeout' || thrown.code === 'unreachable';
    throw new PlatformError(isAway ? 'unreachable' : 'refused', thrown.message);
  }
}
