import { randomBytes } from 'node:crypto';
import { KeyRing } from '../../src/base/key-ring.ts';
import type { InboundMessage } from '../../src/platforms/platform.ts';
import { readSlashCommand } from '../../src/platforms/slash-words.ts';

export function testKeyRing(): KeyRing {
  return new KeyRing([randomBytes(32)]);
}

let count = 0;

/** A valid private text message; every field can be overridden. */
export function textMessage(text: string, overrides: Partial<InboundMessage> = {}): InboundMessage {
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
