import { describe, expect, test } from '@jest/globals';
import { readTraces, type Trace } from '../../src/bot/queue/read-trace.ts';
import { chunk, helloStream, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms, PLATFORMS, type Said } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();
const REFERENCE = /\(\d{4}-\d{2}-\d{2} \d{2}:\d{2}\): ([0-9a-f]{8})\./;
const counted: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const usage = sse(
    JSON.stringify({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'svc-plus',
      choices: [],
      usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 },
    }),
  );
  response.end(chunk({ content: 'Hello.' }) + chunk({}, 'stop') + usage + sse('[DONE]'));
};

async function traceOf(reference: string): Promise<Trace | undefined> {
  // A person sees the end of an answer shortly before its commit.
  let trace: Trace | undefined;
  await untilTrue(async () => {
    [trace] = await readTraces(deployment.redis, reference);
    return trace?.state === 'final';
  });
  return trace;
}

describe.each(PLATFORMS)('/ref on %s', (platform) => {
  const say = async (here: ReturnType<typeof bothPlatforms>, said: Said) => {
    const [seen] = await here.sayAll(platform, [said]);
    return seen?.snapshots.at(-1) ?? '';
  };

  test('shows the reference by which the trace of the last question is found', async () => {
    const here = bothPlatforms(deployment);
    await deployment.startBot(here.env);
    deployment.chat.script(counted);
    expect(await say(here, { person: 'ann', text: 'What is it?' })).toBe('Hello.');
    const [, reference = ''] = REFERENCE.exec(await say(here, { person: 'ann', text: '/ref' })) ?? [];
    const trace = await traceOf(reference);
    const steps = Object.fromEntries((trace?.steps ?? []).map(({ step, values }) => [step, values]));
    expect(steps).toMatchObject({
      accepted: {},
      woken: {},
      claimed: { crashes: 0 },
      'model asked': { model: 'svc-plus' },
      'first token': {},
      tokens: { prompt: 21, answer: 4 },
      'model call ended': { model: 'svc-plus', outcome: 'complete' },
      ended: { outcome: 'answered' },
    });
    expect(trace).toMatchObject({ model: 'svc-plus', delivery: 'live' });
    // WeCom polls snapshots; Slack gets posts.
    expect(Object.keys(steps)).toContain(platform === 'wecom' ? 'snapshots' : 'posts');
  });

  test('shows each member of a shared conversation the reference of their own question', async () => {
    const here = bothPlatforms(deployment);
    await deployment.startBot({ ...here.env, GROUP_SCOPE: 'group' });
    deployment.chat.script(helloStream('Hello.'));
    const group = 'C77';
    for (const person of ['ann', 'ben']) await say(here, { person, text: 'What is it?', group });
    const references = [];
    for (const person of ['ann', 'ben', 'cid'])
      references.push(REFERENCE.exec(await say(here, { person, text: '/ref', group }))?.[1]);
    const [ofAnn, ofBen, ofCid] = references;
    expect(ofCid).toBeUndefined();
    const [one, other] = [await traceOf(ofAnn ?? ''), await traceOf(ofBen ?? '')];
    expect(one?.person).toMatch(/^[0-9a-f]{32}$/);
    expect(one?.person).not.toBe(other?.person);
  });
});
