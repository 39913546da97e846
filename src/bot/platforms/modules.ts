import type { PlatformName } from '../domain/platform-name.ts';
import type { PlatformModule } from './platform-module.ts';
import * as slack from './slack/module.ts';
import * as wecom from './wecom/module.ts';

/**
 * The code of every platform. It is not part of the registry: the configuration is made from the registry, and this code is
 * built from the configuration.
 */
export const PLATFORM_MODULES: Readonly<Record<PlatformName, PlatformModule>> = {
  wecom,
  slack,
};
