import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../bot/model/scripted-chat-server.ts';
import { noisePicture } from '../support/noise-picture.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();
const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const well: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ content: 'Well.' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
};

let sent = 0;
/** Adds a file to the Slack simulator. @returns its address */
function fileAt(name: string, bytes: Buffer): string {
  sent += 1;
  const path = `/files-pri/T1-F${sent}/${name}`;
  deployment.slack.files.set(path, bytes);
  return `${new URL(deployment.slack.apiUrl).origin}${path}`;
}

/** @returns the answer of the bot */
async function answerTo(user: string, text: string, more: object): Promise<string> {
  await deployment.sender.direct(user, text, more);
  const isDone = () => deployment.textsIn(`D${user}`).some((one) => one.endsWith('.') && !one.endsWith('…'));
  await untilTrue(isDone);
  return deployment.textsIn(`D${user}`).at(-1) ?? '';
}

const lastPrompt = () => JSON.stringify(deployment.chat.calls.at(-1)?.body);

beforeEach(async () => {
  deployment.chat.script(well);
  await deployment.startBot({ CHAT_MODELS: 'svc-max,svc-plus', CHAT_MODEL: 'svc-max' });
});

describe('a file of another company (Slack Connect), whose event contains only its id', () => {
  const unknown = { id: 'F0SHARED1', file_access: 'check_file_info' };
  const ask = (user: string) => answerTo(user, 'What does it say?', { subtype: 'file_share', files: [unknown] });

  test('is looked up by its id and read under the name that Slack returns [pinned-media]', async () => {
    const address = fileAt('offer.txt', Buffer.from('The offer ends in June.'));
    const facts = { id: unknown.id, name: 'offer.txt', url_private_download: address };
    deployment.slack.fileFacts.set(unknown.id, () => facts);
    expect(await ask('UADA')).toBe('Well.');
    expect(lastPrompt()).toContain('<file name=\\"offer.txt\\">\\nThe offer ends in June.\\n</file>');
    expect(deployment.slack.calls.filter(({ method }) => method === 'files.info')).toHaveLength(1);
  });

  test('is sent to a model that reads images if it is a picture', async () => {
    const address = fileAt('plan.png', await noisePicture(60, 40).png().toBuffer());
    deployment.slack.fileFacts.set(unknown.id, () => ({ id: unknown.id, name: 'plan.png', url_private: address }));
    expect(await ask('UBEN')).toBe('Well.');
    expect(lastPrompt()).toContain('[image, as a picture]');
    expect(lastPrompt()).toContain('data:image/');
    expect((deployment.chat.calls.at(-1)?.body as { model: string }).model).toBe('svc-plus');
  });

  test.each([
    ['that Slack does not describe', () => undefined],
    ['without an address', () => ({ mode: 'tombstone' })],
    [
      'at an address outside Slack',
      () => ({ url_private: fileAt('offer.txt', Buffer.from('x')).replace('127.0.0.1', 'localhost') }),
    ],
  ])('%s must be sent again, and the model is not called [pinned-media]', async (_, facts) => {
    const told = facts();
    if (told) deployment.slack.fileFacts.set(unknown.id, () => ({ id: unknown.id, name: 'offer.txt', ...told }));
    expect(await ask('UCAT')).toContain('can no longer be downloaded. Please send it again');
    expect(deployment.chat.calls).toHaveLength(0);
  });
});

test('the file of a forwarded message is read and named as a file', async () => {
  const address = fileAt('rules.txt', Buffer.from('Loans last four weeks.'));
  const file = { id: 'F1', name: 'rules.txt', mimetype: 'text/plain', url_private_download: address };
  const attachments = [{ is_share: true, author_name: 'Ada Park', text: 'our rules', files: [file] }];
  expect(await answerTo('UDAN', 'How long are loans?', { attachments })).toBe('Well.');
  const prompt = lastPrompt();
  expect(prompt).toContain('<file name=\\"rules.txt\\">\\nLoans last four weeks.\\n</file>');
  expect(prompt).toMatch(/<quoted>\\n?Ada Park: our rules/);
});

test('the file of a forwarded message that is no longer available must be sent again', async () => {
  const url = `${new URL(deployment.slack.apiUrl).origin}/api/nothing`;
  const file = { id: 'F1', name: 'rules.txt', mimetype: 'text/plain', url_private_download: url };
  const attachments = [{ is_share: true, author_name: 'Ada Park', text: 'our rules', files: [file] }];
  deployment.slack.meet((method) => (method === 'nothing' ? { kind: 'status', status: 404 } : undefined));
  expect(await answerTo('UEVE', 'How long are loans?', { attachments })).toContain(
    '“rules.txt” can no longer be downloaded. Please send it again',
  );
});
