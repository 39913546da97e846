import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const GROUP = { conversation: { group: 'wrtown' }, mention: true };

interface Way {
  person: string;
  word: string;
  place: Partial<typeof GROUP>;
  question: string;
  done: string;
}

/** The text and the sender of a stop. No two rows share a conversation. */
const WAYS: Record<'wecom' | 'slack', Way[]> = {
  wecom: [
    { person: 'emma.clarke', word: '/stop', place: {}, question: 'count to 5000', done: 'Stopped.' },
    { person: 'zhangwei', word: '停止', place: {}, question: '请写 5000 个字', done: '已停止。' },
    { person: 'linxiaoyu', word: '/停止', place: GROUP, question: '请写 5000 个字', done: '已停止。' },
    { person: 'emma.clarke', word: '/stop', place: GROUP, question: 'count to 5000', done: 'Stopped.' },
  ],
  slack: [
    { person: 'emma.clarke', word: 'stop', place: {}, question: 'count to 5000', done: 'Stopped.' },
    { person: 'zhangwei', word: '停止', place: {}, question: '请写 5000 个字', done: '已停止。' },
    { person: 'linxiaoyu', word: '停止', place: GROUP, question: '请写 5000 个字', done: '已停止。' },
    { person: 'emma.clarke', word: 'Stop.', place: GROUP, question: 'count to 5000', done: 'Stopped.' },
  ],
};

describe.each(['wecom', 'slack'] as const)('a stop with three open questions on %s', (protocol) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await startDeployment({
      protocol,
      tokensPerSec: 40,
      env: { SIGN_IN: 'optional', REPLY_MIN_EDIT_MS: '50' },
    });
  }, 60_000);
  afterAll(() => deployment.stop());
  beforeEach(async () => {
    const rates = await deployment.redis.keys('{person:*');
    if (rates.length > 0) await deployment.redis.del(rates);
  });

  test.each([...WAYS[protocol]])(
    'ends all of them at once: $word by $person',
    async ({ person, word, place, question, done }) => {
      const { driver } = deployment.messenger;
      const first = await driver.send(person, { text: question, ...place });
      const textOf = async (id: string) => (await driver.answer(id))?.text ?? '';
      await untilTrue(async () => (await textOf(first.id)).length > 4);
      const later = [
        await driver.send(person, { text: question, ...place }),
        await driver.send(person, { text: question, ...place }),
      ];
      const stop = await driver.send(person, { text: word, ...place });
      expect(stop.error).toBeUndefined();
      await untilTrue(async () => (await textOf(stop.id)) === done);
      const answer = await driver.waitForAnswer(first.id);
      expect([answer.note, answer.thinking]).toContain(done);
      expect(answer.text.length).toBeLessThan(2_000);
      // The waiting questions are one turn, answered under the newest of them.
      await untilTrue(async () => (await textOf(later[1]?.id ?? '')) === done);
    },
  );

  test('breaks no rule of the platform', () => {
    expect(deployment.messenger.driver.violations()).toEqual([]);
  });
});
