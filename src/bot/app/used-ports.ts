import type { Config } from '../config/config.ts';
import { isServiceAlone } from '../config/mode.ts';

export type PortSetting = 'PORT' | 'METRICS_PORT' | 'ADMIN_PORT' | 'SERVICE_PORT' | 'MESSENGER_PORT';

/** A port on which a process with these settings listens. */
export interface UsedPort {
  setting: PortSetting;
  port: number;
  host: string;
}

/** Ports on which this process will listen, with the settings that define them. */
export function usedPorts({ roles, http: { host, port, metricsPort, adminPort }, local }: Config): UsedPort[] {
  return [
    { setting: 'PORT', port, host },
    ...(metricsPort === undefined || isServiceAlone(roles)
      ? []
      : [{ setting: 'METRICS_PORT' as const, port: metricsPort, host }]),
    ...(adminPort === undefined || !roles.includes('receiver')
      ? []
      : [{ setting: 'ADMIN_PORT' as const, port: adminPort, host }]),
    ...(roles.includes('service') && !isServiceAlone(roles)
      ? [{ setting: 'SERVICE_PORT' as const, port: local.servicePort, host }]
      : []),
    ...(roles.includes('messenger')
      ? [{ setting: 'MESSENGER_PORT' as const, port: local.messengerPort, host: '127.0.0.1' }]
      : []),
  ];
}
