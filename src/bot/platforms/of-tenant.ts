import type { Platform } from './platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';

/** The platform for a message's tenant; undefined if the platform is off or the tenant is no longer served. */
export function platformForMessage(
  platforms: ReadonlyMap<PlatformName, Platform>,
  { platform, tenant }: { platform: PlatformName; tenant: string },
): Platform | undefined {
  return platformForTenant(platforms.get(platform), tenant);
}

/** @param tenant absent in records from before multi-tenancy, where it means the first tenant */
export function platformForTenant(platform: Platform | undefined, tenant: string | undefined): Platform | undefined {
  if (tenant === undefined || platform?.ofTenant === undefined || platform.tenant === tenant) return platform;
  return platform.ofTenant(tenant);
}
