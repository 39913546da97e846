import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFrame } from '../../../../src/bot/platforms/slack/socket/read-frame.ts';

test('reads each kind of frame of Slack’s socket [slack-socket]', () => {
  const hello = { type: 'hello', num_connections: 1, connection_info: { app_id: 'A1' } };
  expect(readFrame(JSON.stringify(hello))).toEqual({ kind: 'hello' });
  const warning = { type: 'disconnect', reason: 'warning', debug_info: {} };
  expect(readFrame(JSON.stringify(warning))).toEqual({ kind: 'disconnect', reason: 'warning' });
  expect(readFrame('{"type":"disconnect"}')).toEqual({ kind: 'disconnect', reason: 'none' });
  const envelope = { envelope_id: 'e1', type: 'events_api', payload: { a: 1 }, retry_attempt: 0, retry_reason: '' };
  expect(readFrame(JSON.stringify(envelope))).toEqual({
    kind: 'envelope',
    envelope: { id: 'e1', type: 'events_api', payload: { a: 1 } },
  });
  // Slack sends this when the app is rate limited; it contains no event.
  const limited = { envelope_id: 'e2', type: 'events_api', payload: { type: 'app_rate_limited' } };
  expect(readFrame(JSON.stringify(limited))).toMatchObject({ kind: 'envelope', envelope: { id: 'e2' } });
});

test('reads any other frame as unknown, without an exception', () => {
  for (const text of ['', 'null', '[]', '1', '{}', '{"type":1}', '{"type":"hello"', '{"envelope_id":"e"}'])
    expect(readFrame(text)).toEqual({ kind: 'unknown' });
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readFrame(text)));
  fc.assert(
    fc.property(fc.jsonValue(), (payload) => {
      const frame = readFrame(JSON.stringify({ envelope_id: 'e', type: 't', payload }));
      expect(frame).toMatchObject({ kind: 'envelope', envelope: { id: 'e', type: 't' } });
    }),
  );
});
