import { expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { ageMessages } from '../support/age-messages.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

/** Clock offset of bots that are started from now on; Redis' clock is not changed. */
let clockOffMs = 0;
const deployment = useSlackDeployment({ nowMs: () => Date.now() + clockOffMs });

test('a question that waited nine minutes is answered [in-order]', async () => {
  deployment.chat.script(helloStream('The new answer.'));
  await deployment.startBot({ ROLES: 'receiver' });
  await deployment.sender.direct('U2', 'a question of nine minutes');
  await deployment.stopBots();
  await ageMessages(deployment.redis, 9 * MINUTE_MS);
  await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()), WORKER_CONCURRENCY: '1' });
  await untilTrue(() => deployment.textsIn('DU2').length === 1);
  expect(deployment.textsIn('DU2')).toEqual(['The new answer.']);
});

test('a question that waited over 10 minutes gets an apology with /retry, and later ones are answered in order [in-order]', async () => {
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
  "a worker whose clock is $by of the receiver's clock measures the age of a question correctly [wrong-clocks]",
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

test('waiting questions are read in the order in which Slack shows them, whatever the order of delivery [in-order]', async () => {
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

test('a press of Try again that arrives late is answered before a question that was sent after it [in-order]', async () => {
  deployment.chat.script(helloStream('One answer.'), helloStream('Again.'), helloStream('Later.'));
  await deployment.startBot({ ROLES: 'receiver', SLACK_REPLY: 'edit' });
  const asWorker = async () =>
    deployment.startBot({ ROLES: 'worker', SLACK_REPLY: 'edit', PORT: String(await freePort()) });
  const first = await asWorker();
  await deployment.sender.direct('U4', 'the first question', { ts: '1760000040.000001' });
  await deployment.untilShown('DU4', ['One answer.']);
  const [answer] = deployment.slack.messages.filter(({ channel }) => channel === 'DU4');
  await first.close();
  await deployment.sender.direct('U4', 'a later question', { ts: '1760000040.000003' });
  const button = answer?.buttons.find(({ label }) => label === 'Try again');
  const pressed = { label: '', action_id: '', value: '', ...button, action_ts: '1760000040.000002' };
  await deployment.sender.press({ channel: 'DU4', ts: answer?.ts ?? '', userId: 'U4' }, pressed);
  await asWorker();
  await untilTrue(() => deployment.chat.calls.length === 3);
  const asked = deployment.chat.calls.map(({ body }) => (body as { messages: { content: string }[] }).messages.at(-1));
  expect(asked.map((message) => message?.content)).toEqual([
    expect.stringContaining('the first question'),
    expect.stringContaining('the first question'),
    expect.stringContaining('a later question'),
  ]);
});
