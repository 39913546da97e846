import type { Platform } from './platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';

/** The platform as a message's tenant has it; undefined where it is switched off, or that tenant is not served any more. */
export function platformOf(
  platforms: ReadonlyMap<PlatformName, Platform>,
  { platform, tenant }: { platform: PlatformName; tenant: string },
): Platform | undefined {
  return tenantOf(platforms.get(platform), tenant);
}

/** @param tenant absent in what was stored before there were several: the first one's */
export function tenantOf(platform: Platform | undefined, tenant: string | undefined): Platform | undefined {
  if (tenant === undefined || platform?.ofTenant === undefined || platform.tenant === tenant) return platform;
  return platform.ofTenant(tenant);
}
