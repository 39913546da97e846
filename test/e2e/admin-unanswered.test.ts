import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chunk, helloStream, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { runAdmin } from '../support/run-admin.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();
let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'parley-unanswered-'))));
afterAll(() => rmSync(folder, { recursive: true }));
const TEXT = 'May I bring my bicycle 20210001 to the bicycle cellar?';

/** Searches the documents with the tool, like a model. */
const search: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const call = {
    index: 0,
    id: 'c1',
    type: 'function',
    function: { name: 'knowledge_search', arguments: '{"query":"library"}' },
  };
  response.end(chunk({ tool_calls: [call] }) + chunk({}, 'tool_calls') + sse('[DONE]'));
};

const idle = () => untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0);

/** Rates the last answer. */
async function rate(name: string): Promise<void> {
  const ratings = async () => {
    const keys = await deployment.redis.keys('*:rated-by:*');
    const counts = await Promise.all(keys.map((key) => deployment.redis.zcard(key)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const before = await ratings();
  const at = deployment.slack.messages.findLast(({ buttons }) => buttons.length > 0);
  const button = at?.buttons.find(({ label }) => label === name);
  if (!at || !button) throw new Error('No message can be rated');
  await deployment.sender.press({ channel: at.channel, ts: at.ts, userId: 'U1' }, button);
  await untilTrue(async () => (await ratings()) > before);
}

async function ask(text: string, ...answers: Answer[]): Promise<void> {
  deployment.chat.script(...answers);
  await deployment.sender.direct('U1', text);
  await idle();
}

test('admin unanswered counts questions without source, refused ones and bad answers by topic, with texts only if allowed [unanswered-without-text]', async () => {
  const words = join(folder, 'words.txt');
  writeFileSync(words, 'forbidden\n');
  const env = { KNOWLEDGE_FILE: 'examples/knowledge.json', MODERATION_WORDS_FILE: words, SLACK_BUTTONS: 'yes' };
  await deployment.startBot(env);
  const admin = (options: Record<string, string | boolean> = {}, more = {}) =>
    runAdmin({ ...deployment.env, ...env, ...more }, 'unanswered', '', options);
  expect(await admin()).toMatchObject({ code: 0, data: [] });
  expect((await admin({ json: false })).text).toBe('No unanswered questions are stored\n');

  // The index is built by a separate process.
  await untilTrue(async () => {
    await ask('When does the library open?', search, helloStream('At nine [1].'));
    return JSON.stringify(deployment.chat.calls.at(-1)?.body).includes('[1] ');
  }, 30_000);
  await deployment.redis.del(...(await deployment.redis.keys('*:unanswered:*')), 'none');
  await ask('When does the library open?', search, helloStream('At nine [1].'));
  await ask('Hello there', helloStream('Hello.'));
  expect((await admin()).data).toEqual([]);

  await ask(TEXT, search, helloStream('I do not know.'));
  await ask('自行车可以停在哪里？', search, helloStream('不知道。'));
  await ask('a forbidden question', helloStream('Never asked.'));
  await ask('Where is the tram?', helloStream('Here.'));
  await rate('Good answer');
  await ask('Where is the bicycle shop?', helloStream('Somewhere.'));
  await rate('Bad answer');

  const sums = (await admin()).data as { word: string; questions: number; reasons: object }[];
  const of = (word: string) => sums.find((one) => one.word === word);
  expect(sums[0]).toEqual({
    ...{ word: 'bicycle', questions: 2 },
    reasons: { 'no-source': 1, refused: 0, 'thumbs-down': 1 },
  });
  expect(of('自行车')).toMatchObject({ questions: 1, reasons: { 'no-source': 1 } });
  // Nothing of a blocked question is stored.
  expect(of('-')).toMatchObject({ questions: 1, reasons: { refused: 1 } });
  expect(sums.map(({ word }) => word)).not.toEqual(expect.arrayContaining(['may']));
  expect(JSON.stringify(sums)).not.toMatch(/20210001|forbidden|library/);
  const csv = (await admin({ csv: true, json: false })).text;
  expect(csv).toContain('word,questions,no-source,refused,thumbs-down\r\nbicycle,2,1,0,1\r\n');
  expect(csv).toContain('\r\n(text no longer stored),1,0,1,0\r\n');

  const listed = (await admin({ list: true })).data as Record<string, unknown>[];
  expect(listed).toHaveLength(4);
  expect(listed.every((one) => /^[0-9a-f]{8}$/.test(String(one['reference'])) && !('text' in one))).toBe(true);
  expect(JSON.stringify(listed)).not.toContain('bicycle');
  const shown = (await admin({ list: true }, { UNANSWERED_TEXT: 'yes' })).data as Record<string, unknown>[];
  expect(shown.map(({ text }) => text)).toContain(TEXT);
  expect((await admin({ since: '2030-01-01' })).data).toEqual([]);

  await ask('/forget', helloStream(''));
  expect((await admin()).data).toEqual([]);
}, 120_000);
