import { beforeEach, expect, test } from '@jest/globals';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { TurnTrace } from '../../../src/bot/domain/turn-trace.ts';
import { readTraces } from '../../../src/bot/queue/read-trace.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const ID = asDeliveryId('ab'.repeat(20));
const OTHER = 'cd'.repeat(20);

const server = useTestRedis();
beforeEach(() => server.redis.flushall());

/** The steps of a stored record, in one line each: time, step, values. */
async function stepsOf(record: Record<string, string>): Promise<string[]> {
  await server.redis.hset(messageKey(3, ID), { state: 'final', atMs: '1000', ...record });
  const [trace] = await readTraces(server.redis, ID.slice(0, 8));
  return (trace?.steps ?? []).map(({ atMs, step, values }) => [atMs, step, ...Object.values(values)].join(' '));
}

const ONE = '|7,1100,0,one,1050';
const TWO = '|9,5000,1,two,1050';

test.each<[string, Record<string, string>, string[]]>([
  [
    'one claim and its steps',
    { claims: ONE, did: '7;20,m,svc-plus;90,f;400,h,svc-plus,complete,70,380;401,c,answered;300,p,1,200' },
    [
      '1000 accepted',
      '1050 woken',
      '1100 claimed 7 one 0',
      '1120 model asked svc-plus',
      '1190 first token',
      '1400 posts 1 200',
      '1500 model call ended svc-plus complete 70 380',
      '1501 ended answered',
    ],
  ],
  [
    'a worker that died: its steps so far, the next claim with its crash, and their wake once',
    { claims: `${ONE}~7;20,m,svc-plus${TWO}`, did: '9;5,m,svc-plus;50,c,answered' },
    [
      '1000 accepted',
      '1050 woken',
      '1100 claimed 7 one 0',
      '1120 model asked svc-plus',
      '5000 claimed 9 two 1',
      '5005 model asked svc-plus',
      '5050 ended answered',
    ],
  ],
  [
    'a wake of its own for each claim',
    { claims: `${ONE}|9,5000,1,two,4900` },
    ['1000 accepted', '1050 woken', '1100 claimed 7 one 0', '4900 woken', '5000 claimed 9 two 1'],
  ],
  [
    'a failover before the answer',
    { claims: `${ONE}${TWO}`, did: '9;50,c,answered', again: '1', againMs: '3000' },
    [
      '1000 accepted',
      '1050 woken',
      '1100 claimed 7 one 0',
      '3000 Redis failed over',
      '5000 claimed 9 two 1',
      '5050 ended answered',
    ],
  ],
  [
    'no failover after the answer, which marks the record too',
    { claims: ONE, did: '7;50,c,answered', again: '1', againMs: '3000' },
    ['1000 accepted', '1050 woken', '1100 claimed 7 one 0', '1150 ended answered'],
  ],
  [
    'a failover of a question that waits',
    { state: 'accepted', again: '1', againMs: '3000' },
    ['1000 accepted', '3000 Redis failed over'],
  ],
  [
    'steps of an older claim are not those of a newer one',
    { claims: `${ONE}${TWO}`, did: '7;20,m,svc-plus' },
    ['1000 accepted', '1050 woken', '1100 claimed 7 one 0', '1120 model asked svc-plus', '5000 claimed 9 two 1'],
  ],
  ['a refusal by the rate limit', { state: 'limited' }, ['1000 refused rate limit']],
  ['a refusal by a full inbox', { state: 'limited', full: '1' }, ['1000 refused full inbox']],
  [
    'a stop and a deletion, whose times are unknown',
    { stopped: '1', deleted: '1' },
    ['1000 accepted', '0 stopped by its sender', '0 deleted by its sender'],
  ],
])('a trace shows %s [question-traces]', async (_what, record, expected) => {
  expect(await stepsOf(record)).toEqual(expected);
});

test('a trace shows the values of steps as they were noted, whatever signs they contain [question-traces]', async () => {
  let nowMs = 0;
  const trace = new TurnTrace(7, () => nowMs);
  nowMs = 20;
  trace.note('m', 'a,b;c|d~e%2c');
  expect(await stepsOf({ claims: ONE, did: trace.text() })).toEqual([
    '1000 accepted',
    '1050 woken',
    '1100 claimed 7 one 0',
    '1120 model asked a,b;c|d~e%2c',
  ]);
});

test('a trace names the turn that answered a merged question [question-traces]', async () => {
  await stepsOf({ turn: OTHER, claims: '' });
  expect(await readTraces(server.redis, ID)).toMatchObject([{ id: ID, mergedInto: OTHER }]);
  expect(await readTraces(server.redis, OTHER)).toEqual([]);
});

test('a running turn is traced in the state of its conversation, without the steps of another one [question-traces]', async () => {
  const conversation = 'e'.repeat(32);
  const state = `{p3}:state:${conversation}`;
  await server.redis.hset(state, { turn: ID, claims: ONE, did: '7;20,m,svc-plus' });
  const running = { state: 'accepted', conversation };
  expect(await stepsOf(running)).toContain('1120 model asked svc-plus');
  await server.redis.hset(state, { turn: OTHER });
  expect(await stepsOf(running)).toEqual(['1000 accepted']);
});
