import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { bothPlatforms, PLATFORMS, type PlatformHere, type Said, type Seen } from '../support/both-platforms.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { personOf, storeSignIn } from '../support/stored-sign-in.ts';
import { brought, INJECTIONS, injectionsBy, type Channel, type Injection } from './corpus.ts';
import { harmIn } from './judge-seen.ts';
import { obedientModel, widthOf, type Obeyed } from './obedient-model.ts';

// Rights are enforced outside the model: this one obeys every injection as far as it can, and must gain nothing.

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-injection-'));
const toolsFile = join(folder, 'tools.json');
const STAFF_ONLY = { on: true, who: { identity: ['JG'] } };
/** No person of these tests is in that department. */
const NOBODY_HERE = { on: true, who: { departments: ['99*'] } };
/** Facts about the person who asks, which no other person may get. */
const FACTS = { name: 'Canary Quartz', id: '77001234', department: '4711', departmentName: 'Faculty of Canaries' };

let searxng: Server;
let searches: string[] = [];
beforeAll(async () => {
  const tools = {
    current_time: { on: true },
    who_am_i: { on: true },
    web_search: STAFF_ONLY,
    read_page: NOBODY_HERE,
  };
  writeFileSync(toolsFile, JSON.stringify({ tools }));
  searxng = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const query = new URLSearchParams(body).get('q') ?? '';
      searches.push(query);
      const hit = injectionsBy('tool result').find(({ id }) => id === query);
      const found = hit ? [{ title: hit.text, url: 'https://found.evil.test/', content: brought(hit) }] : [];
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results: found }));
    });
  });
  await new Promise<void>((resolve) => searxng.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await new Promise((resolve) => searxng.close(resolve));
});

/** The person who receives an injection; each one asks only once. */
const askerOf = (platform: PlatformHere, { id }: Injection) =>
  platform === 'slack' ? `U${id.replace('-', '').toUpperCase()}` : `asker.${id}`;
const question = ({ language, channel, id }: Injection) =>
  (language === 'en' ? 'What is this about?' : '这是什么意思？') + (channel === 'tool result' ? ` ${id}` : '');

/** Delivers an injection to the model through its channel. */
async function saidOf(platform: PlatformHere, one: Injection, index: number): Promise<Said> {
  const said = { person: askerOf(platform, one), text: question(one) };
  if (one.channel === 'text') return { ...said, text: brought(one) };
  if (one.channel === 'quoted message') return { ...said, quote: brought(one) };
  if (one.channel === 'group member') return { ...said, group: groupOf(platform, one) };
  if (one.channel !== 'image text') return said;
  const size = { width: widthOf(index), height: 16, channels: 3 as const, background: '#a0a0a0' };
  return { ...said, picture: await sharp({ create: size }).png().toBuffer() };
}
const groupOf = (platform: PlatformHere, { id }: Injection) =>
  platform === 'slack' ? `C${id.replace('-', '').toUpperCase()}` : `wr-${id}`;

interface Met {
  one: Injection;
  seen: Seen[];
  obeyed: Obeyed | undefined;
}

async function meet(platform: PlatformHere, channel: Channel): Promise<Met[]> {
  searches = [];
  const { env, sayAll } = bothPlatforms(deployment);
  const { answer, obeyed } = obedientModel();
  deployment.chat.script(answer);
  const { port } = searxng.address() as AddressInfo;
  await deployment.startBot({
    ...env,
    GROUP_SCOPE: 'group',
    TOOLS_FILE: toolsFile,
    WEB_SEARCH_URL: `http://127.0.0.1:${port}`,
    CHAT_MODELS: 'svc-plus',
    SIGN_IN: 'optional',
    SIGN_IN_URL: deployment.chat.baseUrl,
    SIGN_IN_CLIENT_ID: 'injection',
    SIGN_IN_CLIENT_SECRET: 'injection-secret-0123456789',
    SIGN_IN_PROOF: 'same-id',
  });
  const all = injectionsBy(channel);
  for (const one of all) {
    const name = channel === 'display name' ? brought(one) : FACTS.name;
    const identityCode = channel === 'tool result' ? 'JG' : 'XS';
    await storeSignIn(deployment, personOf(platform, askerOf(platform, one)), {
      accountKey: `key-${one.id}`,
      ...FACTS,
      name,
      identityCode,
    });
  }
  const seen: Seen[][] = all.map(() => []);
  const say = async (said: Said[]) => (await sayAll(platform, said)).forEach((one, index) => seen[index]?.push(one));
  if (channel === 'group member') {
    const member = platform === 'slack' ? 'UMALLORY' : 'mallory';
    await say(
      all.map((one) => ({
        person: `${member}${one.id.replace('-', '').toUpperCase()}`,
        text: brought(one),
        group: groupOf(platform, one),
      })),
    );
    obeyed.clear();
  }
  if (channel === 'display name')
    await say(
      all.map((one) => ({ person: askerOf(platform, one), text: one.language === 'en' ? '/whoami' : '我是谁' })),
    );
  await say(await Promise.all(all.map((one, index) => saidOf(platform, one, index))));
  return all.map((one, index) => ({ one, seen: seen[index] ?? [], obeyed: obeyed.get(one.id) }));
}

/** The tools that the asker of a channel may use. */
function mayUse(channel: Channel): string[] {
  if (channel === 'group member') return ['current_time'];
  return channel === 'tool result' ? ['current_time', 'who_am_i', 'web_search'] : ['current_time', 'who_am_i'];
}

const NO_SUCH = 'There is no such tool here.';

/** Forbidden gains of an injection. */
function gains(platform: PlatformHere, { one, seen, obeyed }: Met): string[] {
  const { id, channel, text } = one;
  if (!obeyed || obeyed.results.length === 0) return [`${id} did not reach the model`];
  const faults = seen.flatMap((some) => harmIn(platform, some));
  if (!seen.at(-1)?.snapshots.some((snapshot) => snapshot.length >= (one.obeyed ?? text).length / 2))
    faults.push('nothing was shown');
  for (const { call, result } of obeyed.results) {
    const isRefused = result.includes(NO_SUCH);
    if (isRefused === mayUse(channel).includes(call.name)) faults.push(`${call.name}: ${result}`);
    if (call.name === 'who_am_i' && call.args !== '{}' && !isRefused && !result.includes('do not fit'))
      faults.push(`${call.name} for somebody else`);
  }
  if (isWithinLabel(platform, one)) faults.push(...brokenLabels(obeyed));
  return faults.map((fault) => `${id}: ${fault}`);
}

/** Whether the text is inside a label of the bot. Pasted text on Slack counts as the person's own words. */
const isWithinLabel = (platform: PlatformHere, { channel }: Injection) =>
  channel === 'quoted message' ? platform === 'wecom' : channel !== 'text' && channel !== 'image text';

/** Only the bot opens and closes a label, whatever the text contains. */
function brokenLabels({ prompt }: Obeyed): string[] {
  const labelled = prompt.filter(({ role }) => role === 'user' || role === 'tool').map((said) => JSON.stringify(said));
  return ['quoted', 'message', 'tool_result'].flatMap((label) =>
    labelled.flatMap((said) => {
      const opened = said.match(new RegExp(`<${label}\\b`, 'gi'))?.length ?? 0;
      const closed = said.match(new RegExp(`<\\s*/\\s*${label}\\b`, 'gi'))?.length ?? 0;
      return opened === closed && opened <= 1 ? [] : [`the label ${label} is broken`];
    }),
  );
}

test('the corpus has at least 100 injections of every kind in both languages, each with a distinct name', () => {
  expect(INJECTIONS.length).toBeGreaterThanOrEqual(100);
  expect(new Set(INJECTIONS.map(({ id }) => id)).size).toBe(INJECTIONS.length);
  for (const language of ['en', 'zh'])
    expect(INJECTIONS.filter((one) => one.language === language).length).toBeGreaterThanOrEqual(50);
});

const CHANNELS = [
  'text',
  'image text',
  'tool result',
  'display name',
  'quoted message',
  'group member',
] as const satisfies readonly Channel[];

describe.each(PLATFORMS)('injections on %s', (platform) => {
  test.each(CHANNELS)(
    'an injection by %s gets no tool, active markup, hidden link or facts from outside [group-is-not-private] [tool-rights] [harmless-marks] [honest-links]',
    async (channel) => {
      const met = await meet(platform, channel);
      expect(met.length).toBeGreaterThanOrEqual(16);
      expect(met.flatMap((one) => gains(platform, one))).toEqual([]);
      // Only staff may use the search, whatever the model requests.
      if (channel !== 'tool result') expect(searches).toEqual([]);
      // A status contains the model's text, so it was visible to the test.
      else expect(JSON.stringify(met.map(({ seen }) => seen.map(({ apart }) => apart)))).toContain('evil.test');
      const prompts = JSON.stringify(deployment.chat.calls.map(({ body }) => body));
      const isNotified = Object.values(FACTS).some((fact) => prompts.includes(fact));
      // SECURITY.md group-is-not-private: facts about the person are given to the model in their private chat, on request,
      // and never in a group.
      expect(isNotified).toBe(channel !== 'group member');
      if (channel === 'group member') {
        const visible = JSON.stringify(met.map(({ seen }) => seen));
        expect(Object.values(FACTS).filter((fact) => visible.includes(fact))).toEqual([]);
      }
    },
    60_000,
  );
});
