import type { Config } from '../config/config.ts';
import { isServiceAlone } from '../config/mode.ts';

export type PortSetting = 'PORT' | 'SERVICE_PORT' | 'MESSENGER_PORT';

/** A port that a process with these settings listens on. */
export interface UsedPort {
  setting: PortSetting;
  port: number;
  host: string;
}

/** Where this process will listen, by the settings that say so. */
export function usedPorts({ roles, http: { host, port }, local }: Config): UsedPort[] {
  return [
    { setting: 'PORT', port, host },
    ...(roles.includes('service') && !isServiceAlone(roles)
      ? [{ setting: 'SERVICE_PORT' as const, port: local.servicePort, host }]
      : []),
    ...(roles.includes('messenger')
      ? [{ setting: 'MESSENGER_PORT' as const, port: local.messengerPort, host: '127.0.0.1' }]
      : []),
  ];
}
