import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { untilTrue } from '../../../support/deployment.ts';
import {
  startRawConnections,
  type FrameVerdict,
  type RawConnections,
  type SentFrame,
} from '../../../support/raw-wecom-connections.ts';
import { startTestRedis, type TestRedis } from '../../../support/redis.ts';
import { everyNth } from '../../../support/tries.ts';
import { connectWecom, type ConnectedWecom } from './connection-use.ts';

const WHOLE = 'The whole answer.';
/** Codes of each kind that WeCom documents, and three undocumented ones. */
const CODES = [
  -1, 40_008, 40_058, 45_002, 45_009, 45_033, 93_001, 93_006, 93_008, 86_008, 81_013, 600_039, 846_605, 846_608, 1,
  999_999, 12_345_678,
];
/** Temporary errors: WeCom may accept the same text later. */
const PASSING = new Set([-1, 45_009, 45_033, 1, 999_999, 12_345_678]);

let redis: TestRedis;
let wecom: RawConnections;
let bot: ConnectedWecom;
const taken: SentFrame[] = [];

beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  await redis.redis.flushall();
  taken.length = 0;
  wecom = await startRawConnections();
  bot = await connectWecom(redis.redis, wecom.url);
  await untilTrue(() => wecom.isSubscribed);
});
afterEach(async () => {
  await bot.close();
  await wecom.stop();
});

/** Refuses frames as `verdictOf` says, and records the frames that WeCom accepts and shows. */
function refuse(verdictOf: (frame: SentFrame) => FrameVerdict): void {
  wecom.judge = (frame) => {
    const verdict = verdictOf(frame);
    if (verdict === 0 || typeof verdict === 'object') taken.push(frame);
    return verdict;
  };
}

const streamOf = ({ body }: SentFrame) =>
  body['stream'] as { id: string; content: string; finish: boolean } | undefined;

/** Counts what people see in the end: the last text of each stream, each push, and each text kept for the next reply. */
function seen(): { whole: number; open: number; cut: number } {
  const streams = new Map<string, { content: string; finish: boolean }>();
  for (const frame of taken) {
    const stream = streamOf(frame);
    if (stream) streams.set(`${frame.reqId} ${stream.id}`, stream);
  }
  const texts = [
    ...[...streams.values()].map(({ content }) => content),
    ...taken.flatMap(({ body }) => (body['markdown'] as { content: string } | undefined)?.content ?? []),
    ...bot.notShown.map(({ text }) => text),
  ];
  return {
    whole: texts.filter((text) => text === WHOLE).length,
    open: [...streams.values()].filter(({ finish }) => !finish).length,
    // A part of the answer that looks like all of it.
    cut: [...streams.values()].filter(
      ({ content, finish }) => finish && content !== WHOLE && !content.includes('follows'),
    ).length,
  };
}

async function answer(): Promise<void> {
  wecom.say('a question');
  const id = await bot.accepted();
  await bot.show(id, 'The', false);
  // WeCom shows no partial text when it has forgotten the request.
  await untilTrue(() => wecom.frames.some((frame) => streamOf(frame)?.content === 'The'), 1_000).catch(() => undefined);
  await bot.show(id, WHOLE, true);
  await untilTrue(async () => await bot.hasEnded(id), 15_000);
}

const POSITIONS = ['the first frame', 'a growing frame', 'the last frame'] as const;
const isAt = (position: (typeof POSITIONS)[number], frame: SentFrame): boolean => {
  const stream = streamOf(frame);
  if (!stream) return false;
  if (position === 'the last frame') return stream.finish;
  return position === 'the first frame' ? stream.content === '' : stream.content === 'The';
};

/** A refused snapshot costs 2 s, so one code of each kind is enough. */
const codesAt = (position: (typeof POSITIONS)[number]) =>
  position === 'a growing frame' ? everyNth([846_605, 45_002, 93_006, 45_009, 999_999], 3) : everyNth(CODES, 3);

test.each(POSITIONS.flatMap((position) => codesAt(position).map((code) => ({ position, code }))))(
  'shows the whole answer once when WeCom refuses $position once with $code [refused-writes]',
  async ({ position, code }) => {
    let isRefused = false;
    refuse((frame) => {
      if (isRefused || !isAt(position, frame)) return 0;
      isRefused = true;
      return code;
    });
    await answer();
    expect(seen()).toMatchObject({ whole: 1, cut: 0 });
    expect(bot.notShown).toEqual([]);
  },
  60_000,
);

const LASTING = CODES.filter((code) => code !== 45_009 && code !== 45_033 && code !== -1);
test.each(everyNth(LASTING, 3, 1))(
  'pushes the answer once when WeCom keeps refusing its final text with %i [refused-writes]',
  async (code) => {
    refuse((frame) => (streamOf(frame)?.content === WHOLE ? code : 0));
    await answer();
    expect(seen()).toEqual({ whole: 1, open: code === 846_605 || code === 846_608 ? expect.any(Number) : 0, cut: 0 });
    expect(bot.notShown).toEqual([]);
    expect(bot.refused.map(({ code: counted }) => counted)).toContain(String(code));
  },
  60_000,
);

test('ends a stream without text with a notice when WeCom refuses every text in it [refused-writes]', async () => {
  refuse((frame) => (['The', WHOLE].includes(streamOf(frame)?.content ?? '') ? 45_002 : 0));
  await answer();
  await untilTrue(() => seen().open === 0);
  expect(seen()).toEqual({ whole: 1, open: 0, cut: 0 });
}, 60_000);

const NEVER_SHOWN = CODES.filter((code) => !PASSING.has(code) || code > 45_033 || code === 1);
test.each(everyNth(NEVER_SHOWN, 3, 2))(
  'keeps the answer once and raises an alarm when WeCom refuses it by every route with %i [refused-writes]',
  async (code) => {
    const said = JSON.stringify(WHOLE);
    refuse(({ body }) => (JSON.stringify(body).includes(said) ? code : 0));
    await answer();
    expect(seen()).toMatchObject({ whole: 1, cut: 0 });
    expect(bot.notShown).toHaveLength(1);
  },
  60_000,
);

test.each([{ late: 'never' }, { late: 'late' }] as const)(
  'shows one message when the acknowledgement of the last frame arrives $late [lost-acknowledgement]',
  async ({ late }) => {
    let count = 0;
    refuse((frame) => {
      if (streamOf(frame)?.finish !== true) return 0;
      count += 1;
      // WeCom applies the frame in each case.
      taken.push(frame);
      if (count > 2) return 0;
      return late === 'never' ? 'silent' : { errcode: 0, afterMs: 700 };
    });
    await answer();
    expect(seen()).toEqual({ whole: 1, open: 0, cut: 0 });
    expect(wecom.pushes()).toEqual([]);
  },
  60_000,
);
