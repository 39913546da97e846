import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWecomSender, wecomText } from './wecom-sender.ts';

/** WeCom's response to a post, or its effect on the connection. */
export type LaterAnswer = 'ok' | 'busy' | 'refused' | 'unauthorised' | ((response: ServerResponse) => void);

/** WeCom's side of a bot: questions, polls, and response_urls with scripted responses. */
export interface WecomReplies {
  /** Settings of a bot that uses it. */
  env: Record<string, string>;
  /** All posts to response_urls, in order, whatever their result. */
  posted: string[];
  /** The next responses to posts; then `ok`, once for each address. */
  answers: LaterAnswer[];
  /** Asks, and polls until the answer has ended. @returns its last content */
  ask(text: string, more?: { userid?: string; groupId?: string }): Promise<string>;
  close(): Promise<void>;
}

const TOKEN = 'replies-token-0123456789';
const AES_KEY = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const SAYS = {
  ok: '{"errcode":0}',
  busy: '{"errcode":45009}',
  refused: '{"errcode":40058}',
  unauthorised: '{"errcode":60020}',
};

export async function startWecomReplies(botUrl: () => string): Promise<WecomReplies> {
  const [posted, answers, used] = [[] as string[], [] as LaterAnswer[], new Set<string>()];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => void (body += piece));
    request.on('end', () => {
      posted.push((JSON.parse(body) as { markdown: { content: string } }).markdown.content);
      const answer = answers.shift() ?? (used.has(request.url ?? '') ? 'refused' : 'ok');
      if (answer === 'ok') used.add(request.url ?? '');
      if (typeof answer === 'string') response.end(SAYS[answer]);
      else answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const snapshotOf = (answer: unknown) =>
    (answer as { stream: { id: string; content: string; finish: boolean } }).stream;
  return {
    env: { WECOM_BOT_TOKEN: TOKEN, WECOM_BOT_AES_KEY: AES_KEY, WECOM_BOT_NAME: 'Parley', WECOM_API_URL: origin },
    ...{ posted, answers },
    async ask(text, { userid = 'zhangwei', groupId } = {}) {
      const sender = createWecomSender({ botUrl: botUrl(), token: TOKEN, aesKey: AES_KEY });
      const place = groupId === undefined ? {} : { chattype: 'group', chatid: groupId };
      const said: Record<string, unknown> = {
        ...wecomText(groupId === undefined ? text : `@Parley ${text}`, userid),
        ...place,
      };
      const response_url = `${origin}/cgi-bin/aibot/response?response_code=${String(said['msgid'])}`;
      let snapshot = snapshotOf((await sender.send({ ...said, response_url })).answer);
      const poll = {
        ...wecomText('', userid),
        ...place,
        text: undefined,
        msgtype: 'stream',
        stream: { id: snapshot.id },
      };
      while (!snapshot.finish) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        snapshot = snapshotOf((await sender.send(poll)).answer);
      }
      return snapshot.content;
    },
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}
