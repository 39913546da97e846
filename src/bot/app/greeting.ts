import { SECOND_MS } from '../../shared/clock.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { Sender } from '../domain/message.ts';
import type { Identity } from '../identity/identity.ts';
import type { Platform } from '../platforms/platform.ts';
import { createScenes } from '../policy/scenes.ts';
import type { Scene } from '../policy/scenes-file.ts';
import type { Config } from '../config/config.ts';
import type { Greeting } from '../ingress/handle-delivery.ts';
import { readPrompts } from './prompts.ts';
import { readScenes } from './scenes.ts';

/** Maximum wait for Redis. A person who is not identified by then is greeted as not linked. */
const KNOWN_WITHIN_MS = SECOND_MS;

/**
 * Creates the greeting of a person who opens the private chat: the suggested questions and the welcome, or those of the
 * scene that applies to the linked person there. @throws ConfigFileError
 */
export function readGreetings(config: Config, identity: Identity | undefined) {
  const prompts = readPrompts(config);
  const list = readScenes(config);
  const scenes = createScenes(list);
  const isSaid = list.some(({ welcome, prompts: own }) => welcome !== undefined || own !== undefined);
  const accountOf = async (platform: Platform, tenant: string, { userId }: Sender) => {
    if (!identity) return undefined;
    const { name, app } = platform;
    const looked = identity.accountOf({ platform: name, tenant, app }, userId);
    const account = await withTimeout(looked, KNOWN_WITHIN_MS).catch(() => undefined);
    return account?.status === 'active' ? account : undefined;
  };
  return async (platform: Platform, { tenant, sender }: { tenant: string; sender: Sender }): Promise<Greeting> => {
    if (!isSaid) return { prompts };
    const account = await accountOf(platform, tenant, sender);
    const place = { kind: 'private', id: sender.userId, platform: platform.name } as const;
    return inScene(scenes.of(account, place), { prompts });
  };
}

function inScene(scene: Scene | undefined, { prompts }: Greeting): Greeting {
  const { zh = prompts.zh, en = prompts.en } = scene?.prompts ?? {};
  return { welcome: scene?.welcome, prompts: { zh, en } };
}
