import { median, percentile, rounded } from './load.mjs';
import { BUILDS } from './parley-env.mjs';
import { countCommands } from './redis-watch.mjs';
import { makeSlackEvents } from './slack-events.mjs';
import { computed, floodOnce, inTurn as inTurnOf, memory, withSubjects } from './subjects.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const FLOOD = { pace: { tokens: 100 }, count: 800, atOnce: 128 };
/** Floods before the measured ones: V8 compiles the code of an answer during the first 5,000 conversations. */
const WARM_UPS = 6;
const ALONE = { pace: { tokens: 20, firstMs: 50, perSecond: 200 }, count: 25 };
const IN_FLIGHT = { pace: { tokens: 100, firstMs: 50, perSecond: 200 }, count: 600, atOnce: 200, idealMs: 545 };
/** Answers at the pace of a usual engine, evenly spaced, so that this many are in flight. */
const BEGIN = { pace: { tokens: 100, firstMs: 50, perSecond: 50 }, idealMs: 2_045, inFlight: [50, 200], seconds: 10 };
/** 40 s of a slow model each: long enough that all are open at the same time. */
const LIVE = { tokens: 200, firstMs: 50, perSecond: 5 };
const LIVE_BEGUN_A_SECOND = 150;
const COUNTED = 20;
const IDLE_MS = 10_000;

/** Cost and latency of an answer, compared with floors without any guarantees, in the same run. */
export function benchAnswers(report) {
  return withSubjects(async ({ conversations, model, start, floor, parley }) => {
    const subjects = [await start('L4', [floor('L4')]), await start('L5', [floor('L5')])];
    for (const build of BUILDS)
      subjects.push(await start(`one process${build.suffix}`, [parley('receiver,worker', { build })]));
    for (const build of BUILDS) {
      const apart = ['receiver', 'worker'].map((roles) => parley(roles, { build }));
      subjects.push(await start(`receiver + worker${build.suffix}`, apart));
    }
    const wanted = (process.env.BENCH_SCENES ?? 'flood,alone,begin,flight,commands,idle,live').split(',');
    const cases = { flood, alone, begin, flight, commands, idle, live };
    const first = new Map();
    for (const subject of subjects)
      first.set(subject.name, await floodOnce({ conversations, model, subject, ...FLOOD, count: 1_000 }));
    for (const [name, { cpuMs }] of first)
      report({
        case: `first 1,000, ${name}`,
        cpuMs: rounded(cpuMs, 3),
        cpuRatio: rounded(cpuMs / first.get('L5').cpuMs),
      });
    for (let count = 0; count < WARM_UPS; count += 1)
      for (const subject of subjects) await floodOnce({ conversations, model, subject, ...FLOOD });
    for (const name of wanted) await cases[name]({ conversations, model, subjects, report });
  });
}

/** L5, and everything else that runs in its process. */
const compared = (subjects) => subjects.filter(({ name }) => name === 'L5' || name.startsWith('one process'));
const inTurn = (subjects, measure) => inTurnOf({ rounds: ROUNDS, subjects }, measure);

/** `cpuRatio` is our CPU time per conversation divided by that of L5, which is more stable than rates on a busy machine. */
async function flood({ conversations, model, subjects, report }) {
  const at = await inTurn(subjects, (subject) => floodOnce({ conversations, model, subject, ...FLOOD }));
  const perSecond = ({ perSecond: rate }) => rate;
  const cpu = ({ cpuMs }) => cpuMs;
  for (const { name } of subjects) {
    report({
      case: `flood, ${name}`,
      perSecond: Math.round(at(name, perSecond)),
      rateRatio: rounded(at(name, perSecond) / at('L5', perSecond)),
      busy: rounded(at(name, ({ busy }) => busy)),
      cpuMs: rounded(at(name, cpu), 3),
      cpuRatio: rounded(at(name, cpu) / at('L5', cpu)),
    });
  }
}

const times = {
  modelMs: ({ sent, called }) => called - sent,
  visibleMs: ({ first, visible }) => visible - first,
  finalMs: ({ last, final }) => final - last,
  wholeMs: ({ sent, final }) => final - sent,
};

async function alone({ conversations, model, subjects, report }) {
  const at = await inTurn(subjects, async ({ url }) => {
    model.pace = ALONE.pace;
    const seen = await conversations.run(url, makeSlackEvents(ALONE.count), 1);
    return Object.fromEntries(Object.entries(times).map(([name, pick]) => [name, median(seen.map(pick))]));
  });
  for (const { name } of subjects) {
    const row = { case: `alone, ${name}` };
    for (const what of ['modelMs', 'visibleMs', 'finalMs']) {
      const pick = ({ [what]: taken }) => taken;
      row[what] = rounded(at(name, pick));
      row[what.replace('Ms', 'Ratio')] = rounded(at(name, pick) / at('L5', pick));
    }
    report(row);
  }
}

/** From the event to the model call, while other answers are being written. */
async function begin({ conversations, model, subjects, report }) {
  for (const inFlight of BEGIN.inFlight) {
    const perSecond = inFlight / (BEGIN.idealMs / 1_000);
    const at = await inTurn(subjects, async ({ url }) => {
      model.pace = BEGIN.pace;
      const events = makeSlackEvents(Math.round(perSecond * BEGIN.seconds));
      const { seen } = await conversations.runAtRate(url, events, perSecond);
      return median(seen.map(times.modelMs));
    });
    const modelMs = (name) => at(name, (taken) => taken);
    for (const { name } of subjects) {
      const modelRatio = rounded(modelMs(name) / modelMs('L5'));
      report({ case: `${inFlight} in flight to the model, ${name}`, modelMs: rounded(modelMs(name)), modelRatio });
    }
  }
}

async function flight({ conversations, model, subjects, report }) {
  const at = await inTurn(subjects, async (subject) => {
    model.pace = IN_FLIGHT.pace;
    const beforeMs = computed(subject);
    const seen = await conversations.run(subject.url, makeSlackEvents(IN_FLIGHT.count), IN_FLIGHT.atOnce);
    const whole = seen.map(times.wholeMs);
    const visible = seen.map(times.visibleMs);
    const cpuMs = (computed(subject) - beforeMs) / IN_FLIGHT.count;
    return { p50: median(whole), p99: percentile(whole, 0.99), visibleP99: percentile(visible, 0.99), cpuMs };
  });
  for (const { name } of subjects) {
    const ratio = (pick) => rounded(at(name, pick) / at('L5', pick));
    report({
      case: `200 in flight, ${name}`,
      idealMs: IN_FLIGHT.idealMs,
      p50FinalMs: Math.round(at(name, ({ p50 }) => p50)),
      p99FinalMs: Math.round(at(name, ({ p99 }) => p99)),
      p99FinalRatio: ratio(({ p99 }) => p99),
      p99VisibleMs: rounded(at(name, ({ visibleP99 }) => visibleP99)),
      cpuMs: rounded(
        at(name, ({ cpuMs }) => cpuMs),
        3,
      ),
      cpuRatio: ratio(({ cpuMs }) => cpuMs),
    });
  }
}

/** Redis commands of a whole conversation: post, one edit, and all of the queue's. */
async function commands({ conversations, model, subjects, report }) {
  for (const { name, url, redisUrl } of compared(subjects)) {
    const { names, ...counts } = await countCommands(redisUrl, async () => {
      model.pace = ALONE.pace;
      await conversations.run(url, makeSlackEvents(COUNTED), 1);
      return COUNTED;
    });
    report({ case: `Redis commands a conversation, ${name}`, ...counts, names: JSON.stringify(names) });
  }
}

async function idle({ subjects, report }) {
  for (const subject of subjects) {
    const beforeMs = computed(subject);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const cpuPercent = ((computed(subject) - beforeMs) / IDLE_MS) * 100;
    report({ case: `idle, ${subject.name}`, cpuPercent: rounded(cpuPercent), mib: memory(subject) });
  }
}

async function live({ conversations, model, subjects, report }) {
  for (const subject of compared(subjects)) {
    for (const count of [500, 2_000]) {
      model.pace = LIVE;
      const idleMib = memory(subject);
      let mostMib = 0;
      const timer = setInterval(() => (mostMib = Math.max(mostMib, memory(subject))), 500);
      const { seen, acksMs } = await conversations.runAtRate(subject.url, makeSlackEvents(count), LIVE_BEGUN_A_SECOND);
      clearInterval(timer);
      const whole = seen.map(times.wholeMs);
      report({
        case: `${count} live, ${subject.name}`,
        idleMib,
        mostMib,
        mibEach: rounded((mostMib - idleMib) / count, 3),
        ackP50Ms: rounded(median(acksMs)),
        ackP99Ms: rounded(percentile(acksMs, 0.99)),
        medianWholeMs: Math.round(median(whole)),
        slowestTenthRatio: rounded(percentile(whole, 0.9) / median(whole), 3),
      });
    }
  }
}
