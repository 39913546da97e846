import { SECOND_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { Language } from '../../shared/text/texts.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { conversationOf } from '../domain/conversation.ts';
import type { Sender } from '../domain/message.ts';
import { conversationKeys, preferencesKeyPrefix } from '../domain/partition-keys.ts';
import type { PersonOwner } from '../identity/account.ts';
import type { Identity } from '../identity/identity.ts';
import { openPreferences, ownerOfPreferences } from '../turn/conversation/preferences.ts';
import { lastLanguage, LATEST_TURNS } from '../turn/prompt/turn-history.ts';
import type { Platform } from '../platforms/platform.ts';
import { createScenes } from '../policy/scenes.ts';
import type { Scene } from '../policy/scenes-file.ts';
import type { Config } from '../config/config.ts';
import type { Greeting } from '../ingress/greet.ts';
import { readPrompts } from './prompts.ts';
import { readScenes } from './scenes.ts';

/** Maximum wait for Redis. A person who is not identified by then is greeted as not linked. */
const KNOWN_WITHIN_MS = SECOND_MS;

export interface GreetingParts {
  redis: RedisClient;
  keyRing: KeyRing;
  identity: Identity | undefined;
  /** Language of the person's page in the simulator. */
  pageLanguageOf?(userId: string): Language | undefined;
}

/**
 * Creates the greeting of a person who opens the private chat: the suggested questions and the welcome, or those of the
 * scene that applies to the linked person there. The language is the one that the person chose with `/lang`, else that of
 * the scene, else that of the person's last message there, else that of the sign-in, else that of
 * the simulator's page. @throws ConfigFileError
 */
export function readGreetings(config: Config, { redis, keyRing, identity, pageLanguageOf }: GreetingParts) {
  const prompts = readPrompts(config);
  const list = readScenes(config);
  const scenes = createScenes(list);
  const isSaid = list.some(({ welcome, prompts: own }) => welcome !== undefined || own !== undefined);
  const chatOf = (owner: PersonOwner, sender: Sender) => {
    const place = { ...owner, sender, chat: { kind: 'private', id: sender.userId } as const };
    return { place, conversation: conversationOf(place, config.conversation.groupScope) };
  };
  const chosenLanguage = async (owner: PersonOwner, sender: Sender) => {
    const { place, conversation } = chatOf(owner, sender);
    const { personId, field } = ownerOfPreferences(place);
    const sealed = await redis.hget(`${preferencesKeyPrefix(conversation.partition)}${personId}`, field);
    return sealed === null ? undefined : openPreferences(keyRing, { [field]: sealed }, place).language;
  };
  const languageSaid = async (owner: PersonOwner, sender: Sender) => {
    const { place, conversation } = chatOf(owner, sender);
    const history = await redis.lrange(conversationKeys(conversation).history, -LATEST_TURNS, -1);
    return lastLanguage(keyRing, { conversation, history }, place);
  };
  return async (platform: Platform, { tenant, sender }: { tenant: string; sender: Sender }): Promise<Greeting> => {
    const owner = { platform: platform.name, tenant, app: platform.app };
    const [account, chosen, said, linked] = await Promise.all([
      isSaid ? known(identity?.accountOf(owner, sender.userId)) : undefined,
      known(chosenLanguage(owner, sender)),
      known(languageSaid(owner, sender)),
      known(identity?.languageOf(owner, sender.userId)),
    ]);
    const active = account?.status === 'active' ? account : undefined;
    const place = { kind: 'private', id: sender.userId, platform: platform.name } as const;
    const scene = isSaid ? scenes.of(active, place) : undefined;
    const shown = pageLanguageOf?.(sender.userId);
    const language = chosen ?? scene?.language ?? said ?? linked ?? shown ?? config.defaultLanguage;
    return inScene(scene, { language, prompts });
  };
}

/** What Redis knows of a person; undefined if it does not answer in time. */
async function known<T>(reading: Promise<T> | undefined): Promise<T | undefined> {
  return reading && withTimeout(reading, KNOWN_WITHIN_MS).catch(() => undefined);
}

function inScene(scene: Scene | undefined, { language, prompts }: Greeting): Greeting {
  const { zh = prompts.zh, en = prompts.en } = scene?.prompts ?? {};
  return { language, welcome: scene?.welcome, prompts: { zh, en } };
}
