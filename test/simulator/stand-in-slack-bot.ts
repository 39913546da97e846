import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { listen } from '../../src/shared/http/http-server.ts';

export const SIGNING_SECRET = 'signing-secret-for-tests';
export const BOT_TOKEN = 'xoxb-for-tests';

export interface SeenEvent {
  headers: IncomingHttpHeaders;
  raw: string;
  envelope: {
    type: string;
    event_id: string;
    team_id: string;
    authorizations: { user_id: string }[];
    event: Record<string, unknown> & { type: string; ts: string; text?: string; files?: Record<string, unknown>[] };
  };
}

/** `block_actions` as received. */
export interface SeenClick {
  type: string;
  user: { id: string };
  container: Record<string, unknown>;
  message?: Record<string, unknown>;
  response_url: string;
  actions: Record<string, unknown>[];
  [field: string]: unknown;
}

/** A scripted response to an event: a status, optionally with headers, or no response. */
export type Scripted = number | { status: number; headers: Record<string, string> } | 'hang';

export interface StandInSlackBot {
  url: string;
  /** Everything but challenges and `entries`. */
  events: SeenEvent[];
  /** `app_home_opened` and `assistant_thread_started`. */
  entries: SeenEvent['envelope'][];
  /** Presses, answered with `clickStatus`; `hang` sends no answer. */
  clicks: SeenClick[];
  clickStatus: number | 'hang';
  /** The app's commands as forms, answered with `commandStatus`. */
  forms: Record<string, string>[];
  commandStatus: number;
  script: (event: SeenEvent, attempt: number) => Scripted;
  close(): Promise<void>;
}

/** A minimal bot over real HTTP: it checks Slack's signature with its own code and answers as scripted by the test. */
export async function startStandInSlackBot(port = 0): Promise<StandInSlackBot> {
  const events: SeenEvent[] = [];
  const bot: Omit<StandInSlackBot, 'url' | 'close'> = {
    ...{ events, entries: [], clicks: [], clickStatus: 200, forms: [], commandStatus: 200 },
    script: () => 200,
  };
  const server = await listen(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const timestamp = String(request.headers['x-slack-request-timestamp']);
        const digest = createHmac('sha256', SIGNING_SECRET).update(`v0:${timestamp}:${raw}`).digest('hex');
        if (request.headers['x-slack-signature'] !== `v0=${digest}`) return void response.writeHead(401).end();
        if ((request.headers['content-type'] ?? '').includes('urlencoded')) {
          const form = Object.fromEntries(new URLSearchParams(raw));
          if (form['payload'] !== undefined) {
            bot.clicks.push(JSON.parse(form['payload']) as SeenClick);
            return bot.clickStatus === 'hang' ? undefined : void response.writeHead(bot.clickStatus).end();
          }
          bot.forms.push(form);
          return void response.writeHead(bot.commandStatus).end();
        }
        const envelope = JSON.parse(raw) as SeenEvent['envelope'] & { challenge?: string };
        if (envelope.challenge !== undefined)
          return void response.end(JSON.stringify({ challenge: envelope.challenge }));
        if (/^(app_home_opened|assistant_thread_started)$/.test(envelope.event.type)) {
          bot.entries.push(envelope);
          return void response.end();
        }
        const seen = { headers: request.headers, raw, envelope };
        const scripted = bot.script(seen, events.push(seen));
        if (scripted === 'hang') return;
        if (typeof scripted === 'number') return void response.writeHead(scripted).end();
        response.writeHead(scripted.status, scripted.headers).end();
      });
    },
    port,
    '127.0.0.1',
  );
  return Object.assign(bot, { url: server.url, close: () => server.close() });
}
