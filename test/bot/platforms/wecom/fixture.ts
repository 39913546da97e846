import type { PlatformFixture } from '../contract.ts';
import { deliver, groupCallback, textCallback, wecom } from './support.ts';

export const fixture: PlatformFixture = {
  create: () => wecom(),
  privateText: (text, { messageId = 'M1', userId = 'lisi' } = {}) =>
    deliver(textCallback(text, { msgid: messageId, from: { userid: userId } })),
  groupText: (text, { userId = 'lisi' } = {}) =>
    deliver(groupCallback(`@RobotA ${text}`, { from: { userid: userId } })),
  unknownEvent: () => deliver(textCallback('', { msgtype: 'event', event: { eventtype: 'hologram' } })),
  missigned: (delivery) => {
    const query = new URLSearchParams(delivery.query);
    query.set('msg_signature', '0'.repeat(40));
    return { ...delivery, query };
  },
  broadcastMarks: ['@all', '@所有人', '@ALL', '<@all>'],
};
