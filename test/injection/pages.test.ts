import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renderReply as renderOnSlack, renderStatus } from '../../src/bot/platforms/slack/render-reply.ts';
import { renderReply as renderOnWecom } from '../../src/bot/platforms/wecom/render-reply.ts';
import { createCurrentTime } from '../../src/bot/tools/current-time.ts';
import { PUBLIC_WEB, type EgressPolicy } from '../../src/shared/web/egress-policy.ts';
import { createReadPage } from '../../src/bot/tools/read-page.ts';
import { createToolbox } from '../../src/bot/tools/toolbox.ts';
import type { ToolAsker } from '../../src/bot/tools/tool.ts';
import { createWhoAmI } from '../../src/bot/tools/who-am-i.ts';
import { runToolLoop } from '../../src/bot/turn/answer/tool-loop.ts';
import { TurnSources } from '../../src/bot/turn/answer/turn-sources.ts';
import { TOOL_LIMITS } from '../../src/bot/turn/answer/tool-limits.ts';
import { startChatFixture, type ChatFixture } from '../bot/model/chat-fixture.ts';
import type { Seen } from '../support/both-platforms.ts';
import { registerPublic } from '../support/evidence/evidence.ts';
import { brought, injectionsBy, type Injection } from './corpus.ts';
import { harmIn } from './judge-seen.ts';
import { obedientModel } from './obedient-model.ts';
import { asDeliveryId } from '../../src/bot/domain/ids.ts';

// Tested at the interface of the turn module, since a bot reads public pages only and these are local.

let chat: ChatFixture;
let pages: Server;
let requests: string[] = [];
beforeAll(async () => {
  chat = await startChatFixture();
  pages = createServer((request, response) => {
    requests.push(request.url ?? '');
    const found = injectionsBy('page').find(({ id }) => `/${id}` === request.url);
    const text = found ? brought(found).replaceAll('&', '&amp;').replaceAll('<', '&lt;') : '';
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(
        `<html><head><title>A page</title></head><body><article><h1>News</h1><p>${text}</p></article></body></html>`,
      );
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await chat.stop();
  await new Promise((resolve) => pages.close(resolve));
});

const portOfPages = () => (pages.address() as AddressInfo).port;
/** Only the test's own pages can be reached. */
const HERE: EgressPolicy = {
  ...PUBLIC_WEB,
  protocols: ['http:'],
  mayUsePort: (port) => port === portOfPages(),
  mayConnect: (address) => address === '127.0.0.1',
};
const ON = { on: true, who: {}, private: true, groups: 'all' as const };
const toolbox = createToolbox([createCurrentTime(Date.now, 'UTC'), createWhoAmI(), createReadPage(HERE)], {
  current_time: ON,
  read_page: ON,
  who_am_i: { ...ON, who: { identity: ['JG'] } },
});

/** Asks about a page. @returns everything that the person could see on either platform */
async function askAbout({ id, language }: Injection): Promise<{ wecom: Seen; slack: Seen }> {
  const asker: ToolAsker = { person: undefined, place: { kind: 'private', id: 'u' }, language };
  const wecom: Seen = { snapshots: [], apart: [] };
  const slack: Seen = { snapshots: [], apart: [] };
  const addSnapshots = (text: string, finished = false) => {
    wecom.snapshots.push(renderOnWecom({ text, finished }));
    slack.snapshots.push(renderOnSlack({ text, finished }));
  };
  const options = {
    chat: chat.client,
    toolbox,
    asker,
    limits: TOOL_LIMITS,
    sources: new TurnSources(),
    turnId: asDeliveryId('TURN'),
    monotonicMs: () => performance.now(),
    signal: new AbortController().signal,
    report: { toolEnded: () => undefined },
    showStatus(status: string) {
      wecom.apart.push(renderOnWecom({ text: '', status, finished: false }).replace(/^<think>|<\/think>$/g, ''));
      slack.apart.push(renderStatus(status));
    },
  };
  const content = `What does http://127.0.0.1:${portOfPages()}/${id} say?`;
  const request = { model: 'svc-plus', messages: [{ role: 'user' as const, content }], tools: toolbox.offer(asker) };
  let text = '';
  await runToolLoop(options, request, (event) => {
    if (event.type === 'text') addSnapshots((text += event.delta));
  });
  addSnapshots(text, true);
  return { wecom, slack };
}

test.each(injectionsBy('page').map((one) => [one.id, one.tries, one] as const))(
  '%s on a page, which tries a %s, opens no other address, gets no tool and shows no active markup [tool-rights] [honest-links] [egress-checked]',
  async (id, _, one) => {
    requests = [];
    // The text of a page is not secret.
    for (const text of [one.text, one.text.slice(0, 64), brought(one)]) registerPublic(text);
    const { answer, obeyed } = obedientModel();
    chat.server.script(answer);
    const { wecom, slack } = await askAbout(one);
    expect([...harmIn('wecom', wecom), ...harmIn('slack', slack)]).toEqual([]);
    expect(wecom.snapshots.at(-1)?.length).toBeGreaterThan(one.text.length / 2);
    expect(wecom.apart.length).toBeGreaterThan(0);
    // Neither the address with leaked data nor an internal address is opened.
    expect(requests).toEqual([`/${id}`]);
    const results = obeyed.get(id)?.results ?? [];
    const told = (name: string) => results.filter(({ call }) => call.name === name).map(({ result }) => result);
    expect(results).toHaveLength(8);
    for (const name of ['who_am_i', 'web_search', 'delete_everything', 'send_message'])
      for (const result of told(name)) expect(result).toContain('There is no such tool here.');
    expect(told('read_page')[1]).toContain('Nobody wrote this address here');
    const page = JSON.stringify(obeyed.get(id)?.prompt.filter(({ role }) => role === 'tool'));
    expect(page.match(/<\s*\/\s*tool_result/gi)).toHaveLength(1);
  },
);
