import type { KeyRing } from './base/key-ring.ts';
import type { Log } from './base/log.ts';
import type { RedisClient } from './base/redis.ts';
import { say, type Language } from './base/texts.ts';
import type { ChatPerson, IdentityNotice } from './identity/identity.ts';
import { conversationOf, type GroupScope } from './platforms/conversation-key.ts';
import type { Platform, PlatformName } from './platforms/platform.ts';
import { keepNotice } from './reply/notices.ts';
import { linkedText } from './turn/linked-text.ts';
import { TURN_TEXTS } from './texts/turn-texts.ts';

interface TellPersonOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  groupScope: GroupScope;
  log: Log;
}

/**
 * Tells a person about their account in their private chat: at once where the platform lets us write first, else with
 * their next private reply, apart from its text.
 */
export function createTellPerson({ redis, keyRing, platforms, groupScope, log }: TellPersonOptions) {
  return async (person: ChatPerson, notice: IdentityNotice): Promise<void> => {
    const text = noticeText(notice, person.language ?? 'zh');
    const result = await platforms.get(person.platform)?.writePrivately?.(person.chatUserId, text);
    if (result === 'sent') return;
    if (result !== undefined)
      log.warn({ platform: person.platform, result }, 'a notice could not be sent; it waits for the next reply');
    const chat = { kind: 'private' as const, id: person.chatUserId };
    const conversation = conversationOf({ ...person, chat, sender: { userId: person.chatUserId } }, groupScope);
    await keepNotice(redis, keyRing, { conversation, text });
  };
}

function noticeText(notice: IdentityNotice, language: Language): string {
  switch (notice.kind) {
    case 'linked':
      return linkedText(language, notice);
    case 'someone-else-signed-in':
      return say(TURN_TEXTS.otherPersonNotice, language);
    case 'account-wanted-elsewhere':
      return say(TURN_TEXTS.conflictNotice, language);
    case 'code-seen-in-group':
      return say(TURN_TEXTS.codeSeenNotice, language);
    case 'sign-in-again':
      return say(TURN_TEXTS.signInAgainNotice, language);
    case 'sign-in-lost':
      return say(TURN_TEXTS.signInLostNotice, language);
    case 'suspended':
      return say(TURN_TEXTS.suspended, language);
  }
}
