import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

const town = useSlackTown();

/** Goes on and on, a word every 30 ms, until nobody listens. */
const endless: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 1; !response.destroyed; word += 1) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `word${word} ` } }] })}\n\n`);
    await sleep(30);
  }
};

test.each([
  { question: 'a question', note: 'Stopped.' },
  { question: '一个问题', note: '已停止。' },
])(
  'contract.md 4: after Slack’s own stop button the text stays as it was, and beside it, in the asker’s language: $note',
  async ({ question, note }) => {
    town.chat.script(endless);
    await town.startBot();
    await town.sender.direct('U1', question);
    await untilTrue(() => town.textsIn('DU1').join('').includes('word2'));
    town.slack.faults.set('chat.appendStream', [{ kind: 'error', error: 'stopped_by_user' }]);
    const seen = () => town.slack.messages.at(-1);
    await untilTrue(() => seen()?.note === note);
    expect(town.textsIn('DU1')).toEqual([expect.stringMatching(/^(word\d+ )+$/)]);
    expect(seen()?.looks.at(-1)).toContain('word1 word2 ');
    expect(await town.chat.calls[0]?.closed).toBe('cut');
  },
  30_000,
);
