import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CodedError } from '../../src/shared/coded-error.ts';
import { createLog, scrub } from '../../src/shared/log.ts';
import { recordingLog } from '../support/redis.ts';

const CANARY = 'CaNaRy-0123456789abcdef';

/** Every form in which a secret has reached a log (SECURITY.md scrubbed-logs). */
const SHAPES = [
  `https://bot.example/oauth/callback?code=${CANARY}&x=1`,
  `/oauth/callback?x=1&state=${CANARY}`,
  `ticket=${CANARY}`,
  `access_token=${CANARY}`,
  `refresh_token=${CANARY}`,
  `client_secret=${CANARY}`,
  `https://qyapi.example/cgi-bin/gettoken?corpid=a&corpsecret=${CANARY}`,
  `Authorization: Bearer ${CANARY}`,
  `bearer ${CANARY}`,
  `{"access_token":"${CANARY}"}`,
  `{"refresh_token": "${CANARY}", "expires_in": 5}`,
  `{"code":"${CANARY}"}`,
  `{"state":"${CANARY}"}`,
  `{"accessToken":"${CANARY}"}`,
  `{"clientSecret": "${CANARY}"}`,
  `apiKey=${CANARY}`,
  `token xoxb-${CANARY}`,
  `key sk-${CANARY}`,
  `GET /link/${CANARY} 200`,
  `data:image/png;base64,${CANARY.replaceAll('-', '+')}`,
];

describe('a secret that must not be readable in a log', () => {
  const isReadable = (line: string): boolean => line.includes(CANARY) || line.includes(CANARY.replaceAll('-', '+'));

  test.each(SHAPES)('is hidden in %s', (shape) => {
    expect(isReadable(scrub(shape))).toBe(false);
    const { log, lines } = recordingLog();
    log.info({ where: shape, nested: { deep: [shape] } }, `said ${shape}`);
    log.error({ error: new CodedError('some_code', shape, { cause: new Error(shape) }) }, 'failed');
    log.error(new Error(shape));
    log.warn({ body: JSON.stringify({ text: shape }) }, 'a body');
    expect(lines).toHaveLength(4);
    expect(lines.filter(isReadable)).toEqual([]);
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  test('is hidden between any other words', () => {
    const words = fc.string({ unit: fc.constantFrom(' ', 'a', '"', '&', ',', '\n', '{', '?'), maxLength: 12 });
    fc.assert(
      fc.property(
        words,
        fc.constantFrom(...SHAPES),
        words,
        (before, shape, after) => !isReadable(scrub(`${before} ${shape} ${after}`)),
      ),
    );
  });
});

test('an error is logged with its name, code, cause and stack, without attached properties', () => {
  const { log, lines } = recordingLog();
  const error = Object.assign(new CodedError('chat_timeout', 'too late', { cause: new Error('inner') }), {
    body: CANARY,
  });
  log.warn({ error }, 'failed');
  log.warn({ error: CANARY }, 'failed');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'failed',
    error: { name: 'CodedError', code: 'chat_timeout', message: 'too late', cause: { message: 'inner' } },
  });
  expect(lines.join('')).not.toContain(CANARY);
});

test('ordinary words, error codes and states of parts are kept', () => {
  expect(scrub('the code of conduct, state of the art, barer of news')).toBe(
    'the code of conduct, state of the art, barer of news',
  );
  const { log, lines } = recordingLog();
  log.info({ code: 'chat_timeout', state: 'half-open', cause: { code: 'UND_ERR_SOCKET' } }, 'kept');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    code: 'chat_timeout',
    state: 'half-open',
    cause: { code: 'UND_ERR_SOCKET' },
  });
});

test('lines below the level are not written', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'warn',
    format: 'json',
    destination: { write: (line: string) => void lines.push(line) },
  });
  log.info('no');
  log.warn('yes');
  expect(lines).toHaveLength(1);
});

test('writes the level as a word, and durations in whole milliseconds', () => {
  const { log, lines } = recordingLog();
  log.warn({ durationMs: 12.732_1, waitedMs: 0.4, share: 0.25, isLate: false, atMs: 7 }, 'measured');
  log.child({ part: 'x' }).info('from a child');
  const [measured, child] = lines.map((line) => JSON.parse(line) as object);
  expect(measured).toMatchObject({ level: 'warn', durationMs: 13, waitedMs: 0, share: 0.25, isLate: false, atMs: 7 });
  expect(child).toMatchObject({ level: 'info', part: 'x' });
});
