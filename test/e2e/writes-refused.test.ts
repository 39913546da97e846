import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, type Answer } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms } from '../support/both-platforms.ts';
import { useSufferingRedis } from '../support/suffering-redis.ts';
import { untilTrue } from '../support/deployment.ts';

const suffering = useSufferingRedis();
const { deployment } = suffering;

/** Commands that make Redis refuse every write, and their reversal. */
const REFUSALS: Record<string, [begin: string[], end: string[]]> = {
  full: [
    ['CONFIG', 'SET', 'maxmemory', '1'],
    ['CONFIG', 'SET', 'maxmemory', '0'],
  ],
  'without its replicas': [
    ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  ],
  'without a right': [
    ['ACL', 'SETUSER', 'default', '-@write'],
    ['ACL', 'SETUSER', 'default', '+@all'],
  ],
  'a replica': [
    ['REPLICAOF', '127.0.0.1', '1'],
    ['REPLICAOF', 'NO', 'ONE'],
  ],
};
const WORDS = Array.from({ length: 60 }, (_, index) => `word${index + 1}`);

/** Streams words for three seconds, so that writes are refused while the answer grows and when it ends. */
const slow: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, word] of WORDS.entries()) {
    response.write(chunk({ content: index === 0 ? word : ` ${word}` }));
    await sleep(50);
  }
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
};

test.each(Object.entries(REFUSALS))(
  'while Redis refuses writes (%s), the process survives, each answer is complete, and the model is asked once',
  async (_, [begin, end]) => {
    await suffering.start();
    const { env, sayAll } = bothPlatforms(deployment);
    const bot = await deployment.startProcess(env);
    deployment.chat.script(slow);
    const onWecom = sayAll('wecom', [{ person: 'somebody', text: 'a long question' }]);
    await deployment.sender.direct('U1', 'a long question');
    await untilTrue(() => deployment.chat.calls.length === 2);
    await sleep(500);
    await suffering.tell(...begin);
    // Until after the end of the answers, so that their commits are refused too.
    await sleep(4_500);
    await suffering.tell(...end);
    await deployment.untilShown('DU1', [WORDS.join(' ')], 30_000);
    expect((await onWecom)[0]?.snapshots.at(-1)?.trim()).toBe(WORDS.join(' '));
    expect(deployment.chat.calls).toHaveLength(2);
    expect(bot.output()).not.toContain('Parley stops because of an unexpected error');
  },
  60_000,
);
