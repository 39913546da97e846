import { expect, test } from '@jest/globals';
import { HOUR_MS } from '../../src/shared/clock.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { tries } from '../support/tries.ts';

const PEOPLE = tries(50);
const AT_ONCE = 20;
const SEED = 'repeated deliveries';
let offsetMs = 0;
const deployment = useSlackDeployment({ nowMs: () => Date.now() + offsetMs });

/** Processes a list with limited concurrency. */
async function inTurns<Item>(items: Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

test(`${PEOPLE} questions, each delivered one to five times, shuffled and up to eight hours late, get one answer each [repeated-deliveries] [accept-once]`, async () => {
  const random = seededRandom(SEED);
  deployment.chat.script(helloStream('Once.'));
  await deployment.startBot();
  const people = Array.from({ length: PEOPLE }, (_, index) => index);
  const deliver = async (person: number) => {
    const status = await deployment.sender.event({
      type: 'message',
      channel_type: 'im',
      channel: `DU${person}`,
      user: `U${person}`,
      text: 'a question',
      ts: `1760000000.${String(person).padStart(6, '0')}`,
    });
    expect(status).toBe(200);
  };
  const repeats = () => people.flatMap((person) => Array.from({ length: random.integer(0, 2) }, () => person));
  await inTurns(random.shuffle([...people, ...repeats()]), deliver);
  await untilTrue(() => people.every((person) => deployment.textsIn(`DU${person}`)[0] === 'Once.'), 40_000);
  offsetMs = 8 * HOUR_MS;
  const late = repeats();
  await inTurns(random.shuffle(late), deliver);
  await deployment.sender.direct('ULAST', 'is all of it worked through?');
  await deployment.untilShown('DULAST', ['Once.']);
  for (const person of people) expect(deployment.textsIn(`DU${person}`)).toEqual(['Once.']);
  // These lines would show that a starved machine had cost a worker its turn.
  expect(deployment.lines.filter((line) => /silent worker|newer run|worker died|not renewed/.test(line))).toEqual([]);
  expect(deployment.chat.calls).toHaveLength(PEOPLE + 1);
  expect(late.length).toBeGreaterThan(PEOPLE / 2);
}, 90_000);
