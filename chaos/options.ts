import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

/** Output of `npm run chaos -- --help`. */
export const USAGE = `npm run chaos [-- OPTIONS]
  Runs receivers, workers and Redis as real processes under load, kills, freezes, stops and cuts them, then judges every
  message. The same seed deals the same faults. Exit code 0 when all promises were kept and all goals reached, else 1.

  --minutes N            how long the load lasts (2)
  --rate N               messages a second (20)
  --receivers N          processes that receive (2)
  --workers N            processes that answer (4)
  --kills-per-minute N   kills of workers, receivers and Redis, 6:3:1 (22); other faults come with them, 6 to 10 kills
  --connected            WeCom delivers over the bot's one connection, which one of the receivers holds, and Slack over
                         sockets, one of each receiver
                         Another program connects as the same WeCom bot now and then
  --adversaries N        a minute (6; 1 with --slow; 0 turns them off): the platforms refuse writes, the engine takes 4 calls at
                         once (30 with --slow), processes that read files are killed, and a question kills its workers. The
                         engine writes in many dialects then, and one of ten questions on Slack has a file
  --sign-in              everybody has to sign in at the real service, by pages and a typed code, while things die;
                         links are judged too. Nobody writes in groups then
  --seed S               deals the same faults again
  --logs FOLDER          keeps what every process printed, and the rig's ledger

  Goals, each of which the run must reach:
  --events N             accepted messages
  --kills N              kills of any process; sets their pace too
  --freezes N            freezes of workers for 15 s that no kill cuts short
  --stops N              orderly stops of workers
  99 of 100 answers always stand within 20 s after the last kill that hit them.
  The whole proof: --minutes 10 --events 10000 --kills 200 --freezes 20 --stops 20

  --soak                 instead: a steady 5 messages a second and 4 kills a minute in rounds of ten minutes; one receiver and
                         one worker are never killed, and what they hold is measured after each round, at rest:
                         heap, resident memory and handles, the end beside the first round, and the keys in Redis.
                         The whole proof: --soak --minutes 30; with --slow: both kinds of faults, --minutes 60

  --slow                 instead: nothing is killed, everything is late. Answers of 30 to 90 s in hostile markdown while links hold,
                         delay, deliver late what was given up and pass one way only, processes freeze, clocks are off by
                         minutes, Redis stalls and refuses writes, Slack executes calls late, and processes are restarted
                         in turn with new keys and another GROUP_SCOPE; nothing visible may stay open.
                         Goals: 37 long answers a minute, the model asked 1.3 times an answer at most, and 99 of 100
                         answers idle for 40 s at most after the last blow that touched them.
                         The whole proof: --slow --minutes 20, with four seeds
  --shards N             queue shards of a slow run; 1 or 3 by the seed

  --scenario NAME        instead: what happens once, to a deployment of its own shape, or all of them: failover,
                         failover-far-behind, split-brain, replica-away, cluster, burst, backup, versions,
                         rolls, sign-in
  --waiting N            how many questions wait in the burst (5000)
  --older COMMIT         the commit whose build is the older one of the versions (HEAD~30)

  --fail-points          instead: processes die before and after each call to the outside
  --lives N              how often at each of these points (20); a point that is reached less often fails the run
`;

/** Parses the command's arguments and fills in defaults. @throws TypeError for an unknown option */
export function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string', default: randomBytes(4).toString('hex') },
      rate: { type: 'string', default: '20' },
      'kills-per-minute': { type: 'string', default: '22' },
      receivers: { type: 'string', default: '2' },
      workers: { type: 'string', default: '4' },
      logs: { type: 'string' },
      events: { type: 'string' },
      kills: { type: 'string' },
      freezes: { type: 'string' },
      stops: { type: 'string' },
      'sign-in': { type: 'boolean', default: false },
      connected: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      slow: { type: 'boolean', default: false },
      adversaries: { type: 'string' },
      shards: { type: 'string' },
      scenario: { type: 'string' },
      waiting: { type: 'string', default: '5000' },
      older: { type: 'string', default: 'HEAD~30' },
      'fail-points': { type: 'boolean', default: false },
      lives: { type: 'string', default: '20' },
    },
  });
  const goal = (name: 'events' | 'kills' | 'freezes' | 'stops') =>
    values[name] === undefined ? {} : { [name]: Number(values[name]) };
  return {
    ...values,
    minutes: Number(values.minutes),
    rate: Number(values.rate),
    killsPerMinute: Number(values['kills-per-minute']),
    receivers: Number(values.receivers),
    workers: Number(values.workers),
    lives: Number(values.lives),
    waiting: Number(values.waiting),
    adversaries: values.adversaries === undefined ? undefined : Number(values.adversaries),
    shards: values.shards === undefined ? undefined : Number(values.shards),
    goals: { ...goal('events'), ...goal('kills'), ...goal('freezes'), ...goal('stops') },
  };
}

export type ChaosCommand = ReturnType<typeof readOptions>;
