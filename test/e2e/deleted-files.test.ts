import { beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import { Deferred } from '../../src/shared/deferred.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const PATH = '/files/notes.txt';
const inPrivate = { channel: 'DU1', channel_type: 'im' };

beforeEach(() => {
  deployment.slack.files.set(PATH, Buffer.from('The word is BANANAS.'));
});

/** Answers with a few words, then pauses until it is released. */
function slowAnswer(): { answer: Answer; ended: Deferred } {
  const ended = new Deferred();
  const answer: Answer = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'the beginning' }));
    await ended.promise;
    if (!response.destroyed) response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
  return { answer, ended };
}

function fileOf(): object {
  const address = new URL(PATH, deployment.slack.apiUrl).href;
  return { id: 'F1', name: 'notes.txt', mimetype: 'text/plain', url_private_download: address };
}

const askAboutFile = () =>
  deployment.sender.direct('U1', 'what is the word?', { subtype: 'file_share', files: [fileOf()] });

/** @param knowsFiles whether Slack names the files of the message */
function deleted(ts: string, knowsFiles: boolean): Promise<number> {
  const files = knowsFiles ? { files: [fileOf()] } : {};
  const previous = { type: 'message', user: 'U1', text: 'what is the word?', ts, ...files };
  const event = { type: 'message', subtype: 'message_deleted', ...inPrivate, hidden: true, deleted_ts: ts };
  return deployment.sender.event({ ...event, ts: '1760000030.000001', previous_message: previous });
}

const kept = () => deployment.redis.keys('{p*}:media:*');
const untilKept = () => untilTrue(async () => (await kept()).length === 1);

describe('the extracted text of a file whose question is deleted [taken-back]', () => {
  test.each([true, false])(
    'is removed when the question is deleted during its answer (Slack names the files: %s)',
    async (knowsFiles) => {
      const slow = slowAnswer();
      deployment.chat.script(slow.answer);
      await deployment.startBot();
      const ts = await askAboutFile();
      await untilTrue(() => deployment.textsIn('DU1')[0] === 'the beginning');
      await untilKept();
      expect(await deleted(ts, knowsFiles)).toBe(200);
      await untilTrue(() => deployment.textsIn('DU1').length === 0);
      expect(await kept()).toEqual([]);
    },
    60_000,
  );

  test('is not stored when the question is deleted while its file is prefetched behind another question', async () => {
    const slow = slowAnswer();
    const [asked, arrives] = [new Deferred(), new Deferred()];
    deployment.slack.onFile = () => {
      asked.resolve();
      return arrives.promise;
    };
    deployment.chat.script(slow.answer, helloStream('another answer'));
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    await deployment.sender.direct('U1', 'a question');
    await untilTrue(() => deployment.textsIn('DU1')[0] === 'the beginning');
    const ts = await askAboutFile();
    await asked.promise;
    expect(await deleted(ts, true)).toBe(200);
    arrives.resolve();
    // Reading and encrypting take some milliseconds. No event reports that the text was not stored.
    await sleep(1_000);
    expect(await kept()).toEqual([]);
    slow.ended.resolve();
  }, 60_000);
});
