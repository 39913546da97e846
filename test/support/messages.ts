import { randomBytes } from 'node:crypto';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import type { InboundMessage } from '../../src/bot/domain/message.ts';
import { readSlashCommand } from '../../src/bot/domain/slash-words.ts';
import { registerSecret } from './evidence/evidence.ts';
import { registerText } from './evidence/harvest.ts';

export function testKeyRing(): KeyRing {
  const key = randomBytes(32);
  registerSecret('key', key.toString('base64'));
  return new KeyRing([key]);
}

let count = 0;

/** A valid private text message; every field can be overridden. */
export function textMessage(text: string, overrides: Partial<InboundMessage> = {}): InboundMessage {
  registerText(text);
  count += 1;
  const userId = overrides.sender?.userId ?? 'alice';
  const slash = readSlashCommand(text);
  return {
    version: 1,
    platform: 'wecom',
    tenant: 'corp',
    app: 'bot',
    messageId: `m${count}-${randomBytes(4).toString('hex')}`,
    chat: { kind: 'private', id: userId },
    sender: { userId },
    parts: [{ type: 'text', text }],
    ...(slash ? { slash } : {}),
    ...overrides,
  };
}
