import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chunk, helloStream, sse, stallAfter, streamOf } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();

interface Sent {
  messages: { role: string; content: string | null }[];
  tools?: { function: { name: string } }[];
}

const sent = (call: number) => deployment.chat.calls[call]?.body as unknown as Sent;
const toolsOf = (call: number) => sent(call).tools?.map((tool) => tool.function.name);
const call = (name: string, args = '{}') =>
  chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name, arguments: args } }] }, 'tool_calls');

const folder = mkdtempSync(join(tmpdir(), 'parley-tools-'));
afterAll(() => rmSync(folder, { recursive: true }));

function toolsFile(tools: object): string {
  const path = join(folder, 'tools.json');
  writeFileSync(path, JSON.stringify({ tools }));
  return path;
}

describe('tools, from a message in Slack to its answer', () => {
  test('are called by the model; the answer has the text of both rounds, and history only the answer [tool-rights]', async () => {
    deployment.chat.script(
      streamOf(chunk({ content: 'One moment.' }), call('current_time')),
      helloStream('It is late.'),
    );
    await deployment.startBot();
    await deployment.sender.direct('U1', 'What time is it?');
    await deployment.untilShown('DU1', ['One moment.\n\nIt is late.']);
    // Without sign-in the bot cannot tell people who they are.
    expect(toolsOf(0)).toEqual(['current_time']);
    expect(sent(1).messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('time zone') });

    deployment.chat.script(helloStream('Yes.'));
    await deployment.sender.direct('U1', 'Really?');
    await deployment.untilShown('DU1', ['One moment.\n\nIt is late.', 'Yes.']);
    expect(
      sent(2)
        .messages.slice(1)
        .map(({ role, content }) => [role, content]),
    ).toEqual([
      ['user', 'What time is it?'],
      ['assistant', 'One moment.\n\nIt is late.'],
      ['user', 'Really?'],
    ]);
  });

  test('make a link to an unnamed host show its full address, during and after the answer', async () => {
    const said = 'See [the page](https://docs.example/a) or [click here](https://evil.example/?q=secret).';
    deployment.chat.script(streamOf(call('current_time')), helloStream(said));
    await deployment.startBot();
    await deployment.sender.direct('U1', 'What does docs.example say?');
    const shown = 'See [the page](https://docs.example/a) or click here (https://evil.example/?q=secret).';
    await deployment.untilShown('DU1', [shown]);
  });

  test('allow /stop while the round after a tool streams, and its text is kept [failover]', async () => {
    deployment.chat.script(
      streamOf(chunk({ content: 'One moment.' }), call('current_time')),
      stallAfter(chunk({ content: 'It' })),
    );
    await deployment.startBot();
    await deployment.sender.direct('U1', 'What time is it?');
    await untilTrue(() => deployment.textsIn('DU1')[0]?.includes('It') === true);
    await deployment.sender.direct('U1', '/stop');
    await untilTrue(() => deployment.lines.some((line) => line.includes('"outcome":"stopped"')));
    expect(deployment.textsIn('DU1')[0]).toMatch(/^One moment\.\n\nIt/);
  });

  test('run again with one answer when a worker dies in the round after a tool [worker-killed]', async () => {
    deployment.chat.script(streamOf(call('current_time')), stallAfter(chunk({ content: 'half' })));
    const worker = await deployment.startProcess();
    await deployment.sender.direct('U1', 'What time is it?');
    await untilTrue(() => deployment.chat.calls.length === 2);
    worker.kill('SIGKILL');
    await worker.ended;
    deployment.chat.script(
      streamOf(call('current_time')),
      streamOf(chunk({ content: 'It is late.' }, 'stop'), sse('[DONE]')),
    );
    await deployment.startProcess();
    await deployment.untilShown('DU1', ['It is late.'], 40_000);
    expect(deployment.chat.calls).toHaveLength(4);
  }, 60_000);

  test('are not declared or run when every tool is off', async () => {
    deployment.chat.script(streamOf(chunk({ content: 'Well.' }), call('current_time')));
    await deployment.startBot({ TOOLS_FILE: toolsFile({ current_time: { on: false } }) });
    await deployment.sender.direct('U1', 'What time is it?');
    await deployment.untilShown('DU1', ['Well.']);
    expect(toolsOf(0)).toBeUndefined();
    expect(deployment.chat.calls).toHaveLength(1);
  });
});
