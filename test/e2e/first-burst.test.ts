import { expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { tries } from '../support/tries.ts';

const deployment = useSlackDeployment();
const ROUNDS = tries(1);
const QUESTIONS = 24;

/** Removes all scripts and keys, so that Redis behaves like a new one. */
async function makeFresh(): Promise<void> {
  await deployment.redis.flushall();
  await deployment.redis.script('FLUSH');
}

test.each(['1', '3'])(
  'the first burst after a start is answered at once, without the sweeper, with %s shards',
  async (shards) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await makeFresh();
      deployment.chat.calls.splice(0);
      deployment.chat.script(helloStream('Here.'));
      const bots = [
        await deployment.startProcess({ ROLES: 'receiver', QUEUE_SHARDS: shards }),
        await deployment.startProcess({ ROLES: 'worker', QUEUE_SHARDS: shards }),
      ];
      const people = Array.from({ length: QUESTIONS }, (_, index) => `UB${round}${index}`);
      await Promise.all(people.map((userId) => deployment.sender.direct(userId, 'a question')));
      await untilTrue(() => people.every((userId) => deployment.textsIn(`D${userId}`).includes('Here.')), 30_000);
      expect(bots.map((bot) => bot.output()).join('')).not.toContain('the sweeper woke waiting conversations');
      for (const bot of bots) bot.kill('SIGKILL');
      await Promise.all(bots.map(({ ended }) => ended));
    }
  },
  120_000,
);
