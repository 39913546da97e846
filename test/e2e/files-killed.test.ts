import { afterEach, expect, jest, test } from '@jest/globals';
import type { Answer } from '../bot/model/scripted-chat-server.ts';
import { makeDocx, paragraph } from '../bot/knowledge/documents/make-zip.ts';
import { childRunning, isRunning, SEES_CHILDREN } from '../support/child-processes.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { everyNth } from '../support/tries.ts';

jest.setTimeout(120_000);
const deployment = useSlackDeployment();
const testWhereSeen = SEES_CHILDREN ? test : test.skip;

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
/** Repeats the word from the file in the prompt, so that an answer without the file is a different one. */
const saysWhatItRead: Answer = (response, { body }) => {
  const [word] = /canary-\w+/.exec(JSON.stringify(body)) ?? [];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ content: `It says ${word ?? 'nothing'}.` })}${chunk({}, 'stop')}data: [DONE]\n\n`);
};

/** A person asks about their own file. @returns the channel of the answer */
async function askAbout(user: string, said: string): Promise<string> {
  const path = `/files-pri/${user}/note.docx`;
  deployment.slack.files.set(path, makeDocx(paragraph(said)));
  const url = `${new URL(deployment.slack.apiUrl).origin}${path}`;
  const files = [{ id: 'F1', name: 'note.docx', mimetype: 'application/octet-stream', url_private_download: url }];
  await deployment.sender.direct(user, 'What does it say?', { subtype: 'file_share', files });
  return `D${user}`;
}

const stopped: number[] = [];
afterEach(() => {
  for (const id of stopped.splice(0)) if (isRunning(id)) process.kill(id, 'SIGKILL');
});

/** Halts the process that reads files for a worker as soon as it exists, so that the worker waits for it. */
async function haltReader(worker: number): Promise<number> {
  for (;;) {
    const id = childRunning('documents/reader.js', worker);
    if (id !== undefined) {
      process.kill(id, 'SIGSTOP');
      stopped.push(id);
      return id;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

testWhereSeen(
  'a worker killed while a file is read is replaced: one answer, with the file, and no leftover reader process [worker-killed]',
  async () => {
    deployment.chat.script(saysWhatItRead);
    await deployment.startBot({ ROLES: 'receiver' });
    const first = await deployment.startProcess({ ROLES: 'worker' });
    const halted = haltReader(first.pid);
    const channel = await askAbout('UADA', 'The word is canary-one.');
    const reader = await halted;
    expect(deployment.chat.calls).toHaveLength(0);
    first.kill('SIGKILL');
    await first.ended;
    process.kill(reader, 'SIGCONT');
    await deployment.startProcess({ ROLES: 'worker' });
    await untilTrue(() => deployment.textsIn(channel).some((text) => text.includes('canary')), 60_000);
    await deployment.untilShown(channel, ['It says canary-one.']);
    expect(deployment.chat.calls).toHaveLength(1);
    await untilTrue(() => !isRunning(reader));
  },
);

testWhereSeen('a killed file reader is replaced by another one, which reads the file [reader-killed]', async () => {
  deployment.chat.script(saysWhatItRead);
  await deployment.startBot({ ROLES: 'receiver' });
  const worker = await deployment.startProcess({ ROLES: 'worker' });
  const halted = haltReader(worker.pid);
  const channel = await askAbout('UKILL', 'The word is canary-kept.');
  process.kill(await halted, 'SIGKILL');
  await untilTrue(() => deployment.textsIn(channel).some((text) => text.includes('canary')), 60_000);
  await deployment.untilShown(channel, ['It says canary-kept.']);
});

testWhereSeen(
  'a file whose readers are all killed is reported as an internal problem, not as damaged [reader-killed]',
  async () => {
    deployment.chat.script(saysWhatItRead);
    await deployment.startBot({ ROLES: 'receiver' });
    const worker = await deployment.startProcess({ ROLES: 'worker' });
    const channel = await askAbout('UKILLED', 'The word is canary-lost.');
    await untilTrue(() => {
      const reader = childRunning('documents/reader.js', worker.pid);
      if (reader !== undefined && isRunning(reader)) process.kill(reader, 'SIGKILL');
      return deployment.textsIn(channel).some((text) => text.includes('because of a problem on our side'));
    }, 60_000);
  },
);

/** Before and after each step of reading a file (RELIABILITY.md crash-between-post-and-record). */
const PLACES = everyNth(['files.fetch:after', 'files.read:after', 'redis.keep-media:after', 'files.fetch:before'], 2);

test('each question about a file gets one answer when a worker dies at any step of reading it [crash-between-post-and-record]', async () => {
  deployment.chat.script(saysWhatItRead);
  await deployment.startBot({ ROLES: 'receiver' });
  const asked: string[] = [];
  for (const [index, place] of PLACES.entries()) {
    const armed = await deployment.startProcess({
      ROLES: 'worker',
      PARLEY_FAIL_POINT: `${place}:exit`,
      TURN_MAX_CRASHES: '100',
    });
    asked.push(await askAbout(`U${index}`, `The word is canary-${index}.`));
    expect(await armed.ended).toBeNull();
  }
  await deployment.startProcess({ ROLES: 'worker', TURN_MAX_CRASHES: '100' });
  for (const [index, channel] of asked.entries()) {
    await untilTrue(() => deployment.textsIn(channel).some((text) => text.includes('canary')), 60_000);
    await deployment.untilShown(channel, [`It says canary-${index}.`]);
  }
  // A question that is with the model when its worker dies is asked again, so each death repeats at most the earlier
  // questions.
  const read = deployment.chat.calls.map(({ body }) => /canary-\d/.exec(JSON.stringify(body))?.[0]);
  expect(new Set(read)).toEqual(new Set(PLACES.map((_, index) => `canary-${index}`)));
  const repeats = PLACES.reduce((sum, _, index) => sum + index, 0);
  expect(read.length).toBeLessThanOrEqual(PLACES.length + repeats);
});

test('a waiting question about a file gets one answer when the prefetching receiver dies [crash-between-post-and-record]', async () => {
  deployment.chat.script(saysWhatItRead);
  const armed = await deployment.startProcess({ ROLES: 'receiver', PARLEY_FAIL_POINT: 'files.read:before:exit' });
  const channel = await askAbout('UGRACE', 'The word is canary-late.');
  expect(await armed.ended).toBeNull();
  await deployment.startBot({ ROLES: 'receiver' });
  await deployment.startProcess({ ROLES: 'worker' });
  await untilTrue(() => deployment.textsIn(channel).some((text) => text.includes('canary')), 60_000);
  await deployment.untilShown(channel, ['It says canary-late.']);
});
