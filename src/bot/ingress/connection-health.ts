import type { PlatformName } from '../domain/platform-name.ts';
import type { ConnectionChange, Platform } from '../platforms/platform.ts';

/**
 * Health of the connections over which platforms deliver, for `/readyz`. A receiver that another platform still reaches
 * stays ready, so that losing one platform does not take down the other.
 */
export function healthOfConnections(
  platforms: readonly Platform[],
  lastChange: (platform: PlatformName) => ConnectionChange | undefined,
) {
  const connected = platforms.filter(({ connect }) => connect);
  const remarkOf = ({ name }: Platform) => connectionRemark(lastChange(name));
  const isReached = () => connected.length < platforms.length || connected.some((each) => remarkOf(each) === undefined);
  return connected.map((platform) => ({
    name: `${platform.name}-connection`,
    isReady: async () => isReached(),
    remark: () => remarkOf(platform),
  }));
}

/** Remark in `/readyz` on a connection that delivers to no process of this deployment. */
function connectionRemark(change: ConnectionChange | undefined): string | undefined {
  switch (change?.state) {
    case 'open':
      return undefined;
    case 'standby':
      return change.isReplaced ? REPLACED_REMARK : undefined;
    case 'replaced':
      return REPLACED_REMARK;
    case 'refused':
      return 'refused by the platform: the log names the setting';
    case 'closed':
    case undefined:
      return 'not connected; reconnects automatically';
  }
}

const REPLACED_REMARK =
  'another program is connected as this bot and receives its messages: stop it, or give it its own bot';
