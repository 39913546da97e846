import { platformForMessage } from '../../platforms/of-tenant.ts';
import type { BackToChat, Platform } from '../../platforms/platform.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import type { PersonOwner } from '../account.ts';

/** The messaging apps, for the pages. */
export interface ChatApps {
  /** The platform of an invitation; undefined if it has since been disabled. */
  platformOf(owner: PersonOwner): Platform | undefined;
  /** How a page leads back to the chat of this person, or of the app whose browser this is. */
  backTo(userAgent: string, owner?: PersonOwner): BackToChat | undefined;
}

export function createChatApps(platforms: ReadonlyMap<PlatformName, Platform>): ChatApps {
  return {
    platformOf({ platform, tenant, app }) {
      const found = platformForMessage(platforms, { platform, tenant });
      return found?.tenant === tenant && found.app === app ? found : undefined;
    },
    backTo: (userAgent, owner) => platformToGoBackTo(platforms, userAgent, owner)?.backToChat(userAgent),
  };
}

/** The person's platform, else the one whose app browser this is, else the only one. */
function platformToGoBackTo(
  platforms: ReadonlyMap<PlatformName, Platform>,
  userAgent: string,
  owner?: PersonOwner,
): Platform | undefined {
  if (owner) return platformForMessage(platforms, owner);
  const all = [...platforms.values()];
  return all.find((platform) => platform.isAppBrowser(userAgent)) ?? (all.length === 1 ? all[0] : undefined);
}
