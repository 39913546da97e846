import type { RedisClient } from '../../src/shared/redis/redis.ts';
import {
  startMessenger,
  type Messenger,
  type MessengerDeps,
  type MessengerOptions,
} from '../../src/simulator/start-messenger.ts';
import { recordingLog } from '../support/redis.ts';
import { wecomProtocol, type WecomOptions } from '../../src/simulator/wecom/index.ts';
import { AES_KEY, TOKEN } from './stand-in-bot.ts';

export const APP = { corpId: 'wwcorp1', agentId: '1000002', agentSecret: 'agent-secret-for-tests' };
export const PEOPLE = [
  { id: 'lin', name: 'Lin Yue', department: 'Physics' },
  { id: 'ada', name: 'Ada Park', department: 'Library' },
  { id: 'omar', name: 'Omar Sy', department: 'Library' },
];

/** The platform's delays, 100 times shorter. */
export const FAST = {
  pollEveryMs: 15,
  answerTimeoutMs: 2_000,
  retryAfterMs: 150,
  verifyTimeoutMs: 500,
  watchAwayMs: 20,
  watchThereMs: 50,
};

/** A clock that starts at real time and can be moved. */
export function movableClock() {
  let offsetMs = 0;
  return { nowMs: () => Date.now() + offsetMs, move: (byMs: number) => void (offsetMs += byMs) };
}

/** A clock that only the test moves, for tests that must not depend on the speed of the machine. */
export function standingClock() {
  let atMs = Date.now();
  return { nowMs: () => atMs, move: (byMs: number) => void (atMs += byMs) };
}

/** Options of a test simulator, for any platform. */
export interface AtTest extends Partial<Omit<MessengerDeps, 'timing'>>, Pick<MessengerOptions, 'controls'> {
  redis: RedisClient;
  botUrl: string;
  serviceUrl?: string;
}

/** The options of a simulator without its platform: three people and a group. */
export function aroundAtTest(options: AtTest): Omit<MessengerOptions, 'protocol' | 'deps'> {
  const { redis, botUrl, serviceUrl = 'http://127.0.0.1:9', controls } = options;
  return {
    address: { port: 0, host: '127.0.0.1' },
    bot: { name: 'Parley', url: botUrl },
    service: { url: serviceUrl },
    office: { people: PEOPLE, groups: [{ id: 'wrLab', name: 'Lab', members: ['lin', 'ada'] }] },
    ...{ redis, controls, log: recordingLog().log },
  };
}

type WecomAtTest = AtTest &
  Partial<Pick<MessengerDeps, 'timing'>> &
  Pick<WecomOptions, 'retryOn503' | 'encryptUserIds' | 'connection'>;

export function startAtTest({ retryOn503, encryptUserIds, connection, ...options }: WecomAtTest): Promise<Messenger> {
  const { nowMs, pageDir, timing } = options;
  return startMessenger({
    ...aroundAtTest(options),
    protocol: wecomProtocol({
      // Over a connection the callback secrets are unused.
      bot: connection ? { token: '', aesKey: '', aiBotId: '' } : { token: TOKEN, aesKey: AES_KEY, aiBotId: 'AIBOT1' },
      app: APP,
      ...(connection === undefined ? {} : { connection }),
      ...(retryOn503 === undefined ? {} : { retryOn503 }),
      ...(encryptUserIds === undefined ? {} : { encryptUserIds }),
    }),
    deps: { nowMs, pageDir, timing: { ...FAST, ...timing } },
  });
}

/** Polls every few milliseconds until the condition holds. */
export async function until(holds: () => boolean | Promise<boolean>, what = 'it', withinMs = 5_000): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
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
