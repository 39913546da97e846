import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connectRedis } from '../../src/shared/redis/redis.ts';
import { startEmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import type { EvidenceKind, KnownSecret, KnownValue, SecretKind } from '../support/evidence/evidence.ts';
import { ByteFinder } from '../support/evidence/find-bytes.ts';
import { judgeEvidence } from '../support/evidence/judge.ts';
import { recordingLog } from '../support/redis.ts';
import { tries } from '../support/tries.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-judged-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

const know = (...secrets: KnownValue[]) =>
  write('secrets/a.jsonl', secrets.map((secret) => `${JSON.stringify(secret)}\n`).join(''));
const TOKEN = 'AT:4f1d2c3b4a5968778695a4b3c2d1e0f0';

describe('the search for secrets in the evidence [secrets-stay-inside] [scrubbed-logs]', () => {
  test.each<EvidenceKind>(['logs', 'metrics', 'pages'])(
    'finds a secret in %s, and reports its place but not its value',
    (evidence) => {
      know({ kind: 'token', value: TOKEN });
      write(`${evidence}/a.txt`, `first\nsecond ${TOKEN} …\nthird\n`);
      const { findings } = judgeEvidence(root, []);
      expect(findings).toEqual([{ evidence, file: 'a.txt', line: 2, secret: 'token', of: 'a', form: 'as it is' }]);
    },
  );

  test('finds a secret in any encoding, at any place within the encoded text', () => {
    const encode: Record<string, (text: string) => string> = {
      plain: (text) => text,
      hex: (text) => Buffer.from(text).toString('hex'),
      HEX: (text) => Buffer.from(text).toString('hex').toUpperCase(),
      base64: (text) => Buffer.from(text).toString('base64'),
      base64url: (text) => Buffer.from(text).toString('base64url'),
      address: encodeURIComponent,
      form: (text) => new URLSearchParams({ field: text }).toString(),
      json: JSON.stringify,
      'json within json': (text) => JSON.stringify(JSON.stringify({ text })),
    };
    // Chinese characters take three bytes each; spaces and quotes are the characters in which encodings differ.
    const secret = fc.string({ minLength: 12, maxLength: 80, unit: fc.constantFrom(...'abcXYZ019 "\\&+/=?问题答案') });
    fc.assert(
      fc.property(
        secret.filter((value) => value.trim().length >= 12),
        fc.stringMatching(/^[a-z]{0,7}$/),
        fc.stringMatching(/^[a-z]{0,7}$/),
        fc.constantFrom(...Object.keys(encode)),
        (value, before, after, how) => {
          know({ kind: 'text', value });
          write('logs/a.txt', `noise ${encode[how]?.(before + value + after) ?? ''} noise`);
          expect(judgeEvidence(root, []).findings.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: tries(300) },
    );
  });

  test('finds a secret that is cut off at its end or its beginning', () => {
    know({ kind: 'text', value: 'What does paragraph twelve of the rules say about leave?' });
    write('logs/a.txt', '{"text":"What does paragraph twelve of …"}\n{"text":"… the rules say about leave?"}');
    expect(judgeEvidence(root, []).findings.map(({ line }) => line)).toEqual([1, 2]);
  });

  test('finds the bytes of a key that is configured in base64', () => {
    const key = randomBytes(32);
    know({ kind: 'key', value: key.toString('base64') });
    write('logs/a.txt', `the key is ${key.toString('hex')}`);
    expect(judgeEvidence(root, []).findings).toMatchObject([{ secret: 'key', form: 'hex' }]);
  });

  test('finds a secret in Redis: keys, values, fields, job data, overwritten or deleted values, values written by a script', async () => {
    const server = await startEmbeddedRedis({ dataDir: join(root, 'redis/a'), extraArguments: ['--save', ''] });
    const redis = connectRedis({ urls: [server.url] }, 'wait', recordingLog().log, 'test');
    const values = ['key', 'value', 'overwritten', 'deleted', 'field', 'script', 'zset', 'stream'].map(
      (name) => `${name}-${randomBytes(12).toString('hex')}`,
    );
    const [inKey, inValue, overwritten, deleted, inField, byScript, member, inStream] = values as [string, ...string[]];
    know(...values.map((value): KnownSecret => ({ kind: 'token', value })));
    await redis.set(`a:${inKey}`, 'x');
    await redis.set('b', `${inValue}`);
    await redis.set('c', `${overwritten}`);
    await redis.set('c', 'x');
    await redis.rpush('d', `${deleted}`);
    await redis.del('d');
    await redis.hset('{wake0}:turns:1', 'data', JSON.stringify({ text: inField }));
    await redis.eval("redis.call('SET', KEYS[1], ARGV[1])", 1, 'e', `${byScript}`);
    await redis.zadd('f', 1, `${member}`);
    await redis.xadd('g', '*', 'event', `${inStream}`);
    await redis.flushdb();
    redis.disconnect();
    await server.stop();
    const lines = judgeEvidence(root, []).findings.map(({ line }) => line);
    expect(new Set(lines).size).toBe(values.length);
  });
});

describe('evidence without findings', () => {
  test("includes unregistered texts and the simulator's own Redis keys", () => {
    know({ kind: 'text', value: 'What is the deadline of the form?' });
    write('logs/a.txt', 'What is the weather? What is the deadlin');
    write('redis/a/aof', '*3\r\n$3\r\nSET\r\n$11\r\nmessenger:m\r\n$33\r\nWhat is the deadline of the form?\r\n');
    expect(judgeEvidence(root, []).findings).toEqual([]);
  });

  test('includes the filler at the end of a fuzzed ticket', () => {
    know({ kind: 'ticket', value: `hP6GdyFTp6bCgqiK1mQx${'a'.repeat(3_000)}` });
    write('redis/a/aof', `*2\r\n$3\r\nDEL\r\n$40\r\n${'a'.repeat(40)}\r\n`);
    expect(judgeEvidence(root, []).findings).toEqual([]);
  });

  test('includes public values, even if a test uses them as a secret', () => {
    const value = 'CrlVwe1WSHWuTQYh3iczmx3aS-faRx6C92k9_hNxl4A';
    know({ kind: 'verifier', value }, { kind: 'public', value });
    write('logs/a.txt', value);
    expect(judgeEvidence(root, []).findings).toEqual([]);
  });

  test('includes an allowed secret only of the allowed kind of evidence and secret, and in the allowed context', () => {
    const allowance = { evidence: 'pages', secret: 'ticket', around: /action="\/link\//, why: 'its own page' } as const;
    const judge = (kind: SecretKind, path: string, text: string) => {
      rmSync(root, { recursive: true });
      know({ kind, value: 'hP6GdyFTp6bCgqiK1mQx' });
      write(path, text);
      return judgeEvidence(root, [allowance]).findings.length;
    };
    const form = '<form action="/link/hP6GdyFTp6bCgqiK1mQx/start">';
    expect(judge('ticket', 'pages/a.txt', form)).toBe(0);
    expect(judge('ticket', 'logs/a.txt', form)).toBe(1);
    expect(judge('code', 'pages/a.txt', form)).toBe(1);
    expect(judge('ticket', 'pages/a.txt', '<p>hP6GdyFTp6bCgqiK1mQx</p>')).toBe(1);
  });
});

test('many byte strings at once are found like each of them alone', () => {
  const bytes = fc.uint8Array({ minLength: 8, maxLength: 11, max: 1 }).map((made) => Buffer.from(made));
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 6 }), fc.uint8Array({ maxLength: 200, max: 1 }), (needles, made) => {
      const hay = Buffer.from(made);
      const all = [...new ByteFinder(needles.map((each) => ({ bytes: each }))).find(hay)];
      const expected = needles.flatMap((needle) =>
        [...hay.keys()].filter((at) => hay.subarray(at, at + needle.length).equals(needle)),
      );
      expect(all.map(({ at }) => at).toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
    }),
  );
});
