import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ChatPerson, IdentityNotice } from '../identity/identity.ts';
import { conversationOf, type GroupScope } from '../domain/conversation.ts';
import { platformForMessage } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import { describePlatform } from '../platforms/registry.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { storeNotice } from '../reply/notices.ts';
import { localizeForChat, type Voice } from '../i18n/say-typed.ts';
import { linkedText } from '../turn/linked-text.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';

interface NotifyPersonOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  groupScope: GroupScope;
  defaultLanguage: Language;
  log: Log;
}

/**
 * Tells a person about their account in their private chat: at once where the platform lets the bot write first, otherwise
 * with their next private reply, separate from its text.
 */
export function createNotifyPerson({
  redis,
  keyRing,
  platforms,
  groupScope,
  defaultLanguage,
  log,
}: NotifyPersonOptions) {
  return async (person: ChatPerson, notice: IdentityNotice): Promise<void> => {
    const platform = platformForMessage(platforms, person);
    const { bareWords } = describePlatform(person.platform);
    const text = noticeText(notice, { language: person.language ?? defaultLanguage, bareWords });
    const result = await platform?.writePrivately?.(person.chatUserId, text);
    if (result === 'sent') return;
    if (result !== undefined)
      log.warn(
        { platform: person.platform, result },
        'a notice could not be sent; it is delivered with the next reply',
      );
    const chat = { kind: 'private' as const, id: person.chatUserId };
    const conversation = conversationOf({ ...person, chat, sender: { userId: person.chatUserId } }, groupScope);
    await storeNotice(redis, keyRing, { conversation, text });
  };
}

function noticeText(notice: IdentityNotice, voice: Voice): string {
  return notice.kind === 'linked' ? linkedText(voice, notice) : localizeForChat(NOTICES[notice.kind], voice);
}

const NOTICES = {
  'someone-else-signed-in': TURN_TEXTS.otherPersonNotice,
  'account-wanted-elsewhere': TURN_TEXTS.conflictNotice,
  'code-seen-in-group': TURN_TEXTS.codeSeenNotice,
  'sign-in-again': TURN_TEXTS.signInAgainNotice,
  'sign-in-lost': TURN_TEXTS.signInLostNotice,
  suspended: TURN_TEXTS.suspended,
};
