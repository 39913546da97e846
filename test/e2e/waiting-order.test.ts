import { expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { ageMessages } from '../support/age-messages.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

/** How far the clock of the bots that are started from now on is off; Redis' own is not. */
let clockOffMs = 0;
const deployment = useSlackDeployment({ nowMs: () => Date.now() + clockOffMs });

test('what waited nine minutes is answered [in-order]', async () => {
  deployment.chat.script(helloStream('The new answer.'));
  await deployment.startBot({ ROLES: 'receiver' });
  await deployment.sender.direct('U2', 'a question of nine minutes');
  await deployment.stopBots();
  await ageMessages(deployment.redis, 9 * MINUTE_MS);
  await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()), WORKER_CONCURRENCY: '1' });
  await untilTrue(() => deployment.textsIn('DU2').length === 1);
  expect(deployment.textsIn('DU2')).toEqual(['The new answer.']);
});

test('what waited over 10 minutes gets an apology with /retry, what came later its answer, in order [in-order]', async () => {
  deployment.chat.script(helloStream('The new answer.'));
  await deployment.startBot({ ROLES: 'receiver' });
  await deployment.sender.direct('U1', 'an old question');
  await deployment.sender.direct('U1', '/help');
  await ageMessages(deployment.redis, 11 * MINUTE_MS);
  await deployment.sender.direct('U1', 'a new question');
  await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
  await untilTrue(() => deployment.textsIn('DU1').length === 3);
  await untilTrue(() => deployment.textsIn('DU1')[2] === 'The new answer.');
  const [apology = '', help = ''] = deployment.textsIn('DU1');
  expect(apology).toContain('Sorry, I could not answer in time.');
  expect(apology).toContain('“retry”');
  expect(help).toContain('`new`');
  expect(deployment.chat.calls).toHaveLength(1);
});

test.each([
  { by: 'ten minutes ahead', offsetMs: 10 * MINUTE_MS },
  { by: 'ten minutes behind', offsetMs: -10 * MINUTE_MS },
])(
  'a worker whose clock is $by of the receiver’s judges the age of a question rightly [wrong-clocks]',
  async ({ offsetMs }) => {
    clockOffMs = 0;
    deployment.chat.script(helloStream('The new answer.'));
    await deployment.startBot({ ROLES: 'receiver' });
    await deployment.sender.direct('U1', 'an old question');
    await deployment.sender.direct('U1', '/help');
    await ageMessages(deployment.redis, 10.5 * MINUTE_MS);
    await deployment.sender.direct('U1', 'a new question');
    await deployment.stopBots();
    clockOffMs = offsetMs;
    await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
    await untilTrue(() => deployment.textsIn('DU1').length === 3);
    await untilTrue(() => deployment.textsIn('DU1')[2] === 'The new answer.');
    expect(deployment.textsIn('DU1')[0]).toContain('Sorry, I could not answer in time.');
  },
);

test('questions that wait are read in the order in which Slack shows them, whatever the order of their deliveries [in-order]', async () => {
  deployment.chat.script(helloStream('One answer.'));
  await deployment.startBot({ ROLES: 'receiver' });
  for (const place of [3, 1, 4, 2])
    await deployment.sender.direct('U3', `part ${place}`, { ts: `1760000030.00000${place}` });
  await deployment.stopBots();
  await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
  await deployment.untilShown('DU3', ['One answer.']);
  const { messages } = deployment.chat.calls[0]?.body as { messages: { content: string }[] };
  expect(messages.at(-1)?.content.match(/part \d/g)).toEqual(['part 1', 'part 2', 'part 3', 'part 4']);
});
