import { expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { createPushReplies } from '../../../../src/bot/platforms/slack/push-replies.ts';
import type { SlackResponse } from '../../../../src/bot/platforms/slack/platform-api.ts';
import { formatHandle } from '../../../../src/bot/platforms/slack/reply-target.ts';

/** Longer than the answer of a fence check remains valid. */
const FROZEN_MS = 2_100;

test.each<[string, string, SlackResponse, string | undefined]>([
  ['an append', 'chat.appendStream', { kind: 'uncertain' }, 'one'],
  [
    'an append to an ended stream',
    'chat.appendStream',
    { kind: 'error', error: 'message_not_in_streaming_state', meaning: 'method' },
    'one',
  ],
  ['the end of a stream', 'chat.stopStream', { kind: 'ok', body: {} }, undefined],
])(
  'a worker that was frozen during %s makes no further call and reports uncertain [worker-frozen] [fence]',
  async (_, method, answer, shown) => {
    const calls: string[] = [];
    const api = {
      call: async (called: string): Promise<SlackResponse> => {
        calls.push(called);
        if (called !== method) return { kind: 'ok', body: {} };
        await pause(FROZEN_MS);
        return answer;
      },
    };
    const answers = createPushReplies({
      ...{ api, apiUrl: 'https://slack.com/api', reply: 'stream', hasButtons: false },
      nowMs: () => 1_000,
      settlesWithinMs: 0,
    });
    const handle = formatHandle({ channel: 'C1', ts: '1.1', streamSinceMs: 1_000 });
    const snapshot = { content: 'one two', finished: false, ...(shown === undefined ? {} : { shown }) };
    expect(await answers.update(handle, snapshot, 'key')).toEqual({ result: 'uncertain' });
    expect(calls).toEqual([method]);
  },
);
