import type { RedisClient } from '../../src/base/redis.ts';
import { startMessenger, type Messenger, type MessengerOptions } from '../../src/messenger/start-messenger.ts';
import { recordingLog } from '../support/redis.ts';
import { wecomProtocol, type WecomOptions } from '../../src/messenger/wecom/index.ts';
import { AES_KEY, TOKEN } from './stand-in-bot.ts';

export const APP = { corpId: 'wwcorp1', agentId: '1000002', agentSecret: 'agent-secret-for-tests' };
export const PEOPLE = [
  { id: 'lin', name: 'Lin Yue', department: 'Physics' },
  { id: 'ada', name: 'Ada Park', department: 'Library' },
  { id: 'omar', name: 'Omar Sy', department: 'Library' },
];

/** The platform's paces, a hundred times as fast. */
export const FAST = {
  pollEveryMs: 15,
  answerTimeoutMs: 2_000,
  retryAfterMs: 150,
  verifyTimeoutMs: 500,
  watchAwayMs: 20,
  watchThereMs: 50,
};

/** A hand-moved clock that starts at real time. */
export function movableClock() {
  let offsetMs = 0;
  return { nowMs: () => Date.now() + offsetMs, move: (byMs: number) => void (offsetMs += byMs) };
}

export type AtTest = Partial<MessengerOptions> & { redis: RedisClient; botUrl: string } & Pick<
    WecomOptions,
    'retryOn503' | 'encryptUserIds'
  >;

export function startAtTest({ retryOn503, encryptUserIds, ...options }: AtTest): Promise<Messenger> {
  return startMessenger({
    port: 0,
    host: '127.0.0.1',
    serviceUrl: 'http://127.0.0.1:9',
    botName: 'Parley',
    protocol: wecomProtocol({
      bot: { token: TOKEN, aesKey: AES_KEY, aiBotId: 'AIBOT1' },
      app: APP,
      ...(retryOn503 === undefined ? {} : { retryOn503 }),
      ...(encryptUserIds === undefined ? {} : { encryptUserIds }),
    }),
    people: PEOPLE,
    groups: [{ id: 'wrLab', name: 'Lab', members: ['lin', 'ada'] }],
    log: recordingLog().log,
    ...options,
    timing: { ...FAST, ...options.timing },
  });
}

/** Waits until something holds, looking every few milliseconds. */
export async function until(holds: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  const deadlineMs = Date.now() + 5_000;
  while (!(await holds())) {
    if (Date.now() > deadlineMs) throw new Error(`Waited in vain until ${what} held`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The smallest PNG. */
export const TINY_PNG = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082',
  'hex',
);
