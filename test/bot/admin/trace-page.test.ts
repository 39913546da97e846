import { expect, test } from '@jest/globals';
import { traceBody } from '../../../src/bot/admin/pages/trace.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { MESSAGE_FIELDS } from '../../../src/bot/domain/message-record.ts';
import { TRACE_STEPS } from '../../../src/bot/domain/turn-trace.ts';

const listIn = (text: string) => text.replace(/^[^:]*: /, '').split(', ');

test('the Chinese page translates every state, delivery, step and name of a value', () => {
  const steps = Object.values(TRACE_STEPS).map(([step, ...names]) => ({
    ...{ atMs: 0, step },
    values: Object.fromEntries(['epoch', 'worker', 'crashes', ...names].map((name) => [name, 7])),
  }));
  const pages = listIn(`: ${MESSAGE_FIELDS.state}`).flatMap((state) =>
    listIn(MESSAGE_FIELDS.delivery).map((delivery) => {
      const trace = { id: asDeliveryId('7'.repeat(40)), conversation: '7', person: '7', state, delivery, steps };
      return traceBody({ language: 'zh', timeZone: 'UTC', reference: '77777777', traces: [trace] }).toString();
    }),
  );
  const words = new Set(
    pages
      .join()
      .replaceAll(/<[^>]*>/g, ' ')
      .match(/[a-z]{2,}/gi),
  );
  expect([...words]).toEqual(['token']);
});
