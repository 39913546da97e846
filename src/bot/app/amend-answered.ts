import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { languageOfText } from '../../shared/text/texts.ts';
import { editedTurns, turnsOf } from '../turn/conversation/turns-of-message.ts';
import { conversationOf, type ConversationRef, type GroupScope } from '../domain/conversation.ts';
import type { InboundAmendment, InboundMessage } from '../domain/message.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import { describePlatform } from '../platforms/registry.ts';
import type { AmendResult } from '../queue/edit-message.ts';
import { changeHistory } from '../queue/change-history.ts';
import { withdrawFromLetter } from '../queue/dead-letters.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { localizeForChat } from '../i18n/say-typed.ts';
import { textOfMessage } from '../turn/prompt/question.ts';

interface AmendAnsweredOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  groupScope: GroupScope;
}

/**
 * Applies the deletion or edit of an answered message to the history (SECURITY.md taken-back): a deleted message's turn is
 * removed, and an edited one gets the new text. The answer stays unchanged. A person who edits is told once how to ask
 * again. Safe to repeat. For a running turn, see turn/run-turn.ts.
 */
export function createAmendAnswered({ redis, keyRing, groupScope }: AmendAnsweredOptions) {
  return async (platform: Platform, amendment: InboundAmendment, amended: AmendResult): Promise<void> => {
    const { message } = amendment;
    const { deliveryId } = amended;
    if (amendment.kind === 'deleted') await withdrawFromLetter(redis, amended.conversation.partition, amended);
    let isLast = false;
    for (const conversation of placesOf(message, amended.conversation, groupScope)) {
      if (amendment.kind === 'deleted') {
        const { sealed, media } = await turnsOf(redis, keyRing, { deliveryId, conversation });
        await changeHistory(redis, conversation, {
          because: deliveryId,
          changes: sealed.map((record) => ({ sealed: record })),
        });
        if (media.length > 0) await redis.del(...media);
        continue;
      }
      const text = textOfMessage(message);
      const reworded = await editedTurns(redis, keyRing, { deliveryId, conversation }, text);
      await changeHistory(redis, conversation, { because: deliveryId, changes: reworded.changes });
      isLast ||= reworded.isLast;
    }
    if (amendment.kind === 'edited' && !amended.isRepeat) await offer(platform, message, isLast);
  };
}

/** Conversations that contain its turn: its own, and that of the thread that its answer began. */
function placesOf(message: InboundMessage, own: ConversationRef, groupScope: GroupScope): ConversationRef[] {
  const { chat, opensThread: threadId } = message;
  return threadId === undefined
    ? [own]
    : [own, conversationOf({ ...message, chat: { ...chat, threadId } }, groupScope)];
}

async function offer(platform: Platform, message: InboundMessage, isLast: boolean): Promise<void> {
  const { replyTarget } = message;
  if (replyTarget === undefined) return;
  const { bareWords } = describePlatform(platform.name);
  const voice = { language: languageOfText(textOfMessage(message)), bareWords };
  await platformForTenant(platform, message.tenant)?.push?.postEphemeral?.(
    replyTarget,
    localizeForChat(REPLY_TEXTS[isLast ? 'editedLast' : 'edited'], voice),
  );
}
