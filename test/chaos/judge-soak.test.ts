import { expect, test } from '@jest/globals';
import { judgeSoak, LONG_BOUNDS } from '../../chaos/judge-soak.ts';
import { kindOfKey, type KeyCount } from '../../chaos/key-census.ts';
import type { SoakRun } from '../../chaos/soak.ts';

const DAY_MS = 86_400_000;
const keys = (count: number, more: Partial<KeyCount> = {}): KeyCount => ({
  count,
  endless: 0,
  maxLifeMs: DAY_MS,
  ...more,
});
const endless = keys(1, { endless: 1, maxLifeMs: -1 });
const signs = () => ({
  heapBytes: 30_000_000,
  rssBytes: 100_000_000,
  fileDescriptors: 31,
  resources: { TCPSocketWrap: 3, Timeout: 4 } as Record<string, number>,
});

/** Two messages of one person in WeCom and one of another in Slack, without any growth. */
function flatSoak(): SoakRun {
  const event = { messageId: 'm', sentAtMs: 0, tries: [] };
  return {
    run: {
      ledger: {
        events: [
          { ...event, id: 1, platform: 'wecom', conversation: 2 },
          { ...event, id: 2, platform: 'wecom', conversation: 2 },
          { ...event, id: 3, platform: 'slack', conversation: 3 },
        ],
        ...{ messages: [], samplings: [], summaries: [], resumptions: [], injectedFaults: [], poisons: [] },
      },
      stops: [],
      endedByThemselves: [],
      leftovers: { pending: 0, inboxes: 0 },
      drainedAfterMs: 1,
    },
    measurements: [{ worker2: signs() }, { worker2: signs() }, { worker2: signs() }],
    keys: {
      before: { '{wake}:turns:meta': endless },
      after: {
        '{p}:message': keys(3),
        '{p}:state': keys(2, { maxLifeMs: 7 * DAY_MS }),
        '{p}:history': keys(3, { maxLifeMs: 30 * DAY_MS }),
        '{wake}:turns:meta': endless,
        '{wake}:turns:events': endless,
      },
      aged: { '{wake}:turns:meta': endless, '{wake}:turns:events': endless },
    },
  };
}
const faultsOf = (spoil: (soak: SoakRun) => unknown) => {
  const soak = flatSoak();
  spoil(soak);
  return judgeSoak(soak, LONG_BOUNDS);
};

test('a soak without growth has no faults [soak]', () => {
  expect(faultsOf(() => undefined)).toEqual([]);
  // Exactly at the bounds.
  const atBounds = faultsOf(({ measurements }) => {
    measurements[2]!['worker2']!.heapBytes += 2_999_999;
    measurements[2]!['worker2']!.rssBytes = 110_000_000;
  });
  expect(atBounds).toEqual([]);
});

test.each<[string, (soak: SoakRun) => unknown, string]>([
  [
    'heap',
    ({ measurements }) => (measurements[2]!['worker2']!.heapBytes += 3_000_000),
    'worker2: heap differs by 3.00 MB, bound: 3.00 MB',
  ],
  [
    'resident memory',
    ({ measurements }) => (measurements[2]!['worker2']!.rssBytes = 110_100_000),
    'worker2: resident memory is 1.101 of the mark, bound: 1.1',
  ],
  [
    'open files',
    ({ measurements }) => (measurements[2]!['worker2']!.fileDescriptors += 1),
    'worker2: file descriptors: 31 at the mark, 32 at the end',
  ],
  [
    'timers',
    ({ measurements }) => (measurements[2]!['worker2']!.resources['Timeout'] = 5),
    'worker2: Timeout: 4 at the mark, 5 at the end',
  ],
  [
    'a new kind of handle',
    ({ measurements }) => (measurements[2]!['worker2']!.resources['Worker'] = 1),
    'worker2: Worker: 0 at the mark, 1 at the end',
  ],
  ['only one round', ({ measurements }) => measurements.splice(0, 2), 'worker2 was measured once only'],
  [
    'more remembered deliveries than messages',
    ({ keys: { after } }) => (after['{p}:message'] = keys(4)),
    '{p}:message: 4 keys, explained: 3',
  ],
  [
    'a leftover job',
    ({ keys: { after } }) => (after['{wake}:turns'] = keys(1)),
    '{wake}:turns: 1 keys although nothing waits',
  ],
  [
    'a key without expiry',
    ({ keys: { after } }) => (after['{p}:state'] = keys(2, { endless: 1 })),
    '{p}:state: 1 keys that never end',
  ],
  [
    'a key with too long a lifetime',
    ({ keys: { after } }) => (after['{p}:history'] = keys(1, { maxLifeMs: 50 * DAY_MS })),
    '{p}:history: a life of 50 days',
  ],
  [
    'a key that returns without messages',
    ({ keys: { aged } }) => (aged['{p}:state'] = keys(1)),
    '{p}:state: 1 keys once all lives are over, before: 0',
  ],
])('a soak reports the growth: %s [soak]', (_, spoil, sentence) => {
  expect(faultsOf(spoil)).toEqual([sentence]);
});

test.each([
  ['{p12}:message:3f9a0c', '{p}:message'],
  ['{p0}:pending', '{p}:pending'],
  ['{wake3}:turns:241', '{wake}:turns'],
  ['{wake3}:turns:241:lock', '{wake}:turns:lock'],
  ['{wake0}:turns:de:8e750694351d2e8edbd496fd3565363e', '{wake}:turns:de'],
  ['{id}:told:linked:8e750694351d2e8edbd496fd3565363e', '{id}:told:linked'],
])('the kind of %s is %s', (name, kind) => {
  expect(kindOfKey(name)).toBe(kind);
});
