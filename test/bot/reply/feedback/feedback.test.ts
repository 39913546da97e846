import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { DAY_MS } from '../../../../src/shared/clock.ts';
import { KeyRing } from '../../../../src/shared/crypto/key-ring.ts';
import { connectRedis, type RedisClient } from '../../../../src/shared/redis/redis.ts';
import { asDeliveryId, asPersonId } from '../../../../src/bot/domain/ids.ts';
import { feedbackKey, messageKey } from '../../../../src/bot/domain/partition-keys.ts';
import { messageFields } from '../../../../src/bot/domain/message-record.ts';
import { csvLine, CSV_HEAD } from '../../../../src/bot/reply/feedback/feedback-csv.ts';
import { storeFeedback, type Rating } from '../../../../src/bot/reply/feedback/keep-feedback.ts';
import { readFeedback, type StoredFeedback } from '../../../../src/bot/reply/feedback/read-feedback.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../../../src/bot/app/local/embedded-redis.ts';
import { loadSettings } from '../../../../src/bot/config/load-settings.ts';
import { runFeedbackCommand } from '../../../../src/cli/feedback-command.ts';
import { recordingLog } from '../../../support/redis.ts';

const ANSWER = asDeliveryId('ab'.repeat(20));
const SECRET_KEY = randomBytes(32).toString('base64');
const keyRing = new KeyRing([Buffer.from(SECRET_KEY, 'base64')]);
let server: EmbeddedRedis;
let redis: RedisClient;

beforeAll(async () => {
  server = await startEmbeddedRedis();
  redis = connectRedis({ urls: [server.url] }, 'wait', recordingLog().log, 'test');
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => redis.flushall());

const good: Rating = {
  ...{ partition: 3, answer: ANSWER, platform: 'wecom', personId: asPersonId('p1') },
  ...{ verdict: 'good', reasons: [] },
};
const keep = (rating: Partial<Rating>, more: { keepsWords?: boolean; lifeMs?: number } = {}) =>
  storeFeedback({ redis, keyRing, lifeMs: 90 * DAY_MS, keepsWords: true, ...more }, { ...good, ...rating });
async function allKept(sinceMs = 0): Promise<StoredFeedback[]> {
  const kept: StoredFeedback[] = [];
  for await (const one of readFeedback({ redis, keyRing }, sinceMs)) kept.push(one);
  return kept;
}

describe('feedback on an answer [feedback-kept]', () => {
  test('is stored with the model and rule of the answer’s record, and keeps both when the record is gone', async () => {
    await redis.hset(messageKey(3, ANSWER), ...messageFields({ answeredBy: 'svc-plus', rule: 'staff' }));
    expect(await keep({})).toBe('new');
    await redis.del(messageKey(3, ANSWER));
    expect(await keep({ verdict: 'bad', reasons: ['wrong', 'incomplete'], words: '不对' })).toBe('changed');
    expect(await allKept()).toEqual([
      expect.objectContaining({ model: 'svc-plus', rule: 'staff', platform: 'wecom', verdict: 'bad', words: '不对' }),
    ]);
    expect((await allKept())[0]?.reasons).toEqual(['wrong', 'incomplete']);
  });

  test('is unchanged by repetitions, in any order and at once', async () => {
    const told = await Promise.all([keep({ words: 'fine' }), keep({ words: 'fine' }), keep({ words: 'fine' })]);
    expect(told.toSorted()).toEqual(['new', 'same', 'same']);
    expect(await keep({})).toBe('same');
    expect(await keep({ words: 'better' })).toBe('detailed');
    expect(await keep({ verdict: 'withdrawn' })).toBe('withdrawn');
    expect(await redis.keys('*')).toEqual([]);
  });

  test('is stored without words unless the settings keep them, and never in plain text', async () => {
    await keep({ verdict: 'bad', words: 'BANANAS', personId: asPersonId('p2') });
    await keep({ verdict: 'bad', words: 'CHERRIES' }, { keepsWords: false });
    const keys = await redis.keys('*');
    const dumps = await Promise.all(keys.map(async (key) => (await redis.dumpBuffer(key)).toString('latin1')));
    expect(dumps.join('')).not.toMatch(/BANANAS|CHERRIES/);
    expect(keys.join(' ')).not.toMatch(/\bp[12]\b/);
    expect((await allKept()).map(({ words }) => words).toSorted()).toEqual(['', 'BANANAS']);
  });

  test('expires after its lifetime together with its lists', async () => {
    await keep({}, { lifeMs: 60_000 });
    const lives = await Promise.all((await redis.keys('*')).map((key) => redis.pttl(key)));
    expect(lives).toHaveLength(3);
    for (const lifeMs of lives) expect(lifeMs).toBeGreaterThan(50_000);
    expect(Math.max(...lives)).toBeLessThanOrEqual(60_000);
    await keep({}, { lifeMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await keep({ answer: asDeliveryId('cd'.repeat(20)) }, { lifeMs: 10 });
    expect(await redis.zcard('{p3}:rated')).toBeLessThanOrEqual(1);
  });

  test('is stored for at most 200 people per answer', async () => {
    const told = await Promise.all(
      Array.from({ length: 210 }, (_, index) => keep({ personId: asPersonId(`many${index}`) })),
    );
    expect(told.filter((change) => change === 'full')).toHaveLength(10);
    expect(await redis.hget(feedbackKey(3, ANSWER), 'raters')).toBe('200');
    // A person who has rated already may still change the rating.
    expect(await keep({ personId: asPersonId('many0'), verdict: 'bad' })).toBe('changed');
  });
});

/** Parses RFC 4180 and nothing else. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < csv.length; at += 1) {
    const letter = csv[at] ?? '';
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (csv[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (letter === '"' && cell === '') isQuoted = true;
    else if (letter === ',') [row, cell] = [[...row, cell], ''];
    else if (letter === '\r' && csv[at + 1] === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      at += 1;
    } else cell += letter;
  }
  return rows;
}

describe('the feedback CSV [feedback-kept]', () => {
  const row: StoredFeedback = {
    ...{ atMs: Date.UTC(2026, 10, 23), platform: 'slack', answer: ANSWER, rater: 'r', verdict: 'bad' },
    ...{ reasons: ['wrong'], model: 'm', rule: 'staff', words: '' },
  };

  test('is parsed back for any text and contains no spreadsheet formula', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (words, rule) => {
        const [read = []] = parseCsv(csvLine({ ...row, words, rule }));
        expect(read).toHaveLength(9);
        expect([words, `'${words}`]).toContain(read[8]);
        expect([rule, `'${rule}`]).toContain(read[6]);
        for (const cell of read) expect(cell).not.toMatch(/^\s*[=+@\-\t\r]/);
      }),
    );
    for (const words of ['=1+1', '  =1', '@SUM(A1)', '+1', '-1', '\t=1', '＝1', '\r\n=1'])
      expect(parseCsv(csvLine({ ...row, words }))[0]?.[8]).toBe(`'${words}`);
  });

  test('is printed by npm run feedback, in full or for a number of days', async () => {
    await keep({ words: 'a, "b"\nc' });
    const settings = loadSettings({
      cwd: process.cwd(),
      env: {
        ...{ REDIS_URL: server.url, SECRET_KEY, SIGN_IN: 'off', PUBLIC_URL: 'https://parley.example.org' },
        ...{ CHAT_BASE_URL: 'http://127.0.0.1:9/v1', CHAT_API_KEY: 'sk-test-0123456789' },
        ...{ SLACK_SIGNING_SECRET: 'signing-secret-0123', SLACK_BOT_TOKEN: 'xoxb-test-0123456789' },
      },
    });
    if (!settings.ok) throw new Error(settings.faults.map(({ message }) => message).join());
    const { config, secrets } = settings;
    const asides: string[] = [];
    const run = async (more: object = {}) => {
      const output = new PassThrough();
      const aside = { write: (words: string) => asides.push(words) };
      const status = await runFeedbackCommand({ config, secrets, output, asides: aside, ...more });
      output.end();
      return [status, (await buffer(output)).toString()] as const;
    };
    const [status, csv] = await run({ days: 1 });
    expect([status, csv.startsWith(CSV_HEAD)]).toEqual([0, true]);
    expect(parseCsv(csv.slice(CSV_HEAD.length))).toEqual([
      [expect.stringMatching(/^20\d\d-.*Z$/), 'wecom', ANSWER, 'good', '', '', '', expect.any(String), 'a, "b"\nc'],
    ]);
    const [, lines] = await run({ days: 1, isJson: true });
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([expect.objectContaining({ answer: ANSWER, verdict: 'good', words: 'a, "b"\nc' })]);
    const away = { ...secrets, redisUrls: ['redis://127.0.0.1:9/0'] };
    expect(await run({ secrets: away })).toEqual([1, '']);
    expect(asides.join('')).toContain('npm run check');
  }, 60_000);
});
