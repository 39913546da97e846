import { expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { freePort } from '../../src/local/embedded-redis.ts';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

let offsetMs = 0;
const nowMs = () => Date.now() + offsetMs;
const town = useSlackTown({ nowMs });

test('security.md 4.8: what waited nine minutes is answered', async () => {
  town.chat.script(helloStream('The new answer.'));
  await town.startBot({ ROLES: 'receiver' });
  await town.sender.direct('U2', 'a question of nine minutes');
  await town.stopBots();
  offsetMs = 9 * MINUTE_MS;
  await town.startBot({ ROLES: 'worker', PORT: String(await freePort()), WORKER_CONCURRENCY: '1' });
  await untilTrue(() => town.textsIn('DU2').length === 1);
  expect(town.textsIn('DU2')).toEqual(['The new answer.']);
});

test('security.md 4.8: what waited over 10 minutes gets an apology with /retry, what came later its answer, in order', async () => {
  offsetMs = 0;
  town.chat.script(helloStream('The new answer.'));
  await town.startBot({ ROLES: 'receiver' });
  await town.sender.direct('U1', 'an old question');
  await town.sender.direct('U1', '/help');
  offsetMs = 11 * MINUTE_MS;
  await town.sender.direct('U1', 'a new question');
  await town.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
  await untilTrue(() => town.textsIn('DU1').length === 3);
  await untilTrue(() => town.textsIn('DU1')[2] === 'The new answer.');
  const [apology = '', help = ''] = town.textsIn('DU1');
  expect(apology).toContain('did not want to surprise you');
  expect(apology).toContain('/retry');
  expect(help).toContain('/new');
  expect(town.chat.calls).toHaveLength(1);
});
