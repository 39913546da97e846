import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { startWecomReplies, type WecomReplies } from '../support/wecom-replies.ts';

// A real worker that dies while it posts the rest of an answer. Another worker resumes its turn after 20 s.

const deployment = useSlackDeployment();
let wecom: WecomReplies;
beforeEach(async () => {
  wecom = await startWecomReplies(() => deployment.botUrl);
  Object.assign(deployment.env, wecom.env);
});
afterEach(() => wecom.close());

const LONG = Array.from({ length: 1_300 }, (_, line) => `line ${line} of a long answer`).join('\n');

test.each([
  { what: 'had arrived', fates: ['refused'], posts: 2 },
  { what: 'had not arrived', fates: ['busy', 'ok'], posts: 3 },
] as const)(
  'the rest of an answer is delivered once when its worker dies in a post that $what',
  async ({ fates, posts }) => {
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot({ ROLES: 'receiver' });
    const dying = await deployment.startProcess({ ROLES: 'worker' });
    wecom.answers.push(
      (response) => {
        dying.kill('SIGKILL');
        response.destroy();
      },
      ...fates,
    );
    await wecom.ask('a long one');
    await dying.ended;
    const tookOverMs = Date.now();
    await deployment.startProcess({ ROLES: 'worker' });
    await untilTrue(async () => (await deployment.redis.keys('{p*}:follow-up*')).length === 0, 60_000);
    process.stdout.write(`the rest came ${((Date.now() - tookOverMs) / 1_000).toFixed(1)} s after its worker died\n`);
    expect(wecom.posted).toHaveLength(posts);
    expect(new Set(wecom.posted).size).toBe(1);
    expect(await deployment.redis.keys('{p*}:leftovers:*')).toEqual([]);
  },
  90_000,
);
