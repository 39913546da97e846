import type { PlatformFixture } from '../contract.ts';
import { deliver, directMessage, envelope, mention, slack } from './support.ts';

export const fixture: PlatformFixture = {
  create: () => slack(),
  privateText: (text, { messageId, userId } = {}) =>
    deliver(
      directMessage(text, { ...(messageId ? { ts: tsOf(messageId) } : {}), ...(userId ? { user: userId } : {}) }),
    ),
  groupText: (text, { userId } = {}) => deliver(mention(text, userId ? { user: userId } : {})),
  unknownEvent: () => deliver(envelope({ type: 'reaction_added', user: 'U1' })),
  missigned: (delivery) => ({ ...delivery, body: Buffer.concat([delivery.body, Buffer.from(' ')]) }),
  broadcastMarks: [
    '<!channel>',
    '<!here>',
    '<!everyone>',
    '<!subteam^S123>',
    '<!here|here>',
    '<@U123>',
    '<#C123|general>',
    '@channel',
    '@here',
    '@everyone',
    '@所有人',
    '<at user_id="all">',
  ],
};

/** A message `ts` derived from any name. */
function tsOf(name: string): string {
  return `1760000000.${Buffer.from(name).readUIntBE(0, 3).toString().padStart(9, '0').slice(-9)}`;
}
