import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { decodeAesKey, sealMedia } from '../../src/simulator/wecom/crypto.ts';
import type { SlackDeployment } from './slack-deployment.ts';
import { untilTrue } from './deployment.ts';
import { createWecomSender } from './wecom-sender.ts';

export const PLATFORMS = ['wecom', 'slack'] as const;
export type PlatformHere = (typeof PLATFORMS)[number];

/** A message to the bot. */
export interface Said {
  person: string;
  text: string;
  /** The group of the message, with a mention. Defaults to the private chat. */
  group?: string;
  /** The quoted text. Slack has no quotes: people paste them behind a `>`. */
  quote?: string;
  /** An attached picture. */
  picture?: Buffer;
  /** Fields of the platform's own message that replace the generated ones. */
  fields?: object;
}

/** Everything that people could see of the bot's answer to a message. */
export interface Seen {
  /** All texts over time, the final one last. */
  snapshots: string[];
  /** Text shown apart from the answer: status lines, notes and the model's thought. */
  apart: string[];
}

export interface BothPlatforms {
  /** The settings by which a bot of the deployment also serves WeCom. */
  env: Record<string, string>;
  /** Sends all messages concurrently by signed deliveries, and waits until all are answered. */
  sayAll(platform: PlatformHere, said: readonly Said[]): Promise<Seen[]>;
}

const POLL_EVERY_MS = 60;
const LIMIT_MS = 60_000;
const TOKEN = 'bothtoken';
const AES_KEY =
  randomBytes(33)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, 'x')
    .slice(0, 42) + 'A';
/** WeCom's thinking block, which only the bot writes, at the beginning. */
const BLOCK = /^<think>([\s\S]*?)<\/think>\n?/;

let count = 0;

/** One bot for WeCom and Slack, with the people of both platforms. Call it after the deployment has begun a test. */
export function bothPlatforms(deployment: SlackDeployment): BothPlatforms {
  const origin = new URL(deployment.slack.apiUrl).origin;
  const wecom = createWecomSender({ botUrl: deployment.botUrl, token: TOKEN, aesKey: AES_KEY });
  const place = (picture: Buffer | undefined, isSealed: boolean): string | undefined => {
    if (!picture) return undefined;
    const path = `/files/${(count += 1)}`;
    deployment.slack.files.set(path, isSealed ? sealMedia(decodeAesKey(AES_KEY), picture) : picture);
    return origin + path;
  };

  async function onWecom({ person, text, group, quote, picture, fields = {} }: Said): Promise<Seen> {
    const chat = {
      aibotid: 'aibot-both',
      ...(group === undefined ? { chattype: 'single' } : { chattype: 'group', chatid: group }),
      from: { userid: person },
    };
    const said = { msgtype: 'text', text: { content: group === undefined ? text : `@Parley ${text}` } };
    const url = place(picture, true);
    const content =
      url === undefined
        ? said
        : { msgtype: 'mixed', mixed: { msg_item: [said, { msgtype: 'image', image: { url } }] } };
    const quoted = quote === undefined ? {} : { quote: { msgtype: 'text', text: { content: quote } } };
    const send = async (message: object) => {
      const delivery = { msgid: `both-${(count += 1)}`, ...chat, ...message };
      let sent = await wecom.send(delivery);
      // On a busy machine the message may not be stored in time; the same delivery is then repeated.
      for (let again = 0; sent.status === 503 && again < 3; again += 1) sent = await wecom.send(delivery);
      expect(sent.status).toBe(200);
      return (sent.answer as { stream: { id: string; finish: boolean; content: string } }).stream;
    };
    const seen: Seen = { snapshots: [], apart: [] };
    let answer = await send({ ...content, ...quoted, ...fields });
    for (const untilMs = Date.now() + LIMIT_MS; ; answer = await send({ msgtype: 'stream', stream: answer })) {
      const [block, apart] = BLOCK.exec(answer.content) ?? ['', undefined];
      if (apart !== undefined) seen.apart.push(apart);
      seen.snapshots.push(answer.content.slice(block.length));
      if (answer.finish || Date.now() > untilMs) return seen;
      await sleep(POLL_EVERY_MS);
    }
  }

  async function sayOnSlack({ person, text, group, quote, picture, fields = {} }: Said): Promise<void> {
    const written = escaped(quote === undefined ? text : `${quote.replace(/^/gm, '> ')}\n${text}`);
    if (group !== undefined) {
      await deployment.sender.mention({ channel: group, userId: person }, written);
      return;
    }
    const url = place(picture, false);
    await deployment.sender.direct(person, written, {
      thread_ts: threadOf(person),
      ...(url === undefined
        ? {}
        : {
            subtype: 'file_share',
            files: [{ name: 'p.png', mimetype: 'image/png', url_private_download: url, url_private: url }],
          }),
      ...fields,
    });
  }

  async function onSlack(all: readonly Said[]): Promise<Seen[]> {
    const [messages, calls] = [deployment.slack.messages.length, deployment.slack.calls.length];
    await Promise.all(all.map(sayOnSlack));
    await untilTrue(async () => (await deployment.redis.keys('*:pending')).length === 0, LIMIT_MS);
    return all.map(({ person, group }) => {
      const channel = group ?? `D${person}`;
      const own = deployment.slack.messages.slice(messages).filter((message) => message.channel === channel);
      const statuses = deployment.slack.calls
        .slice(calls)
        .filter(({ method, args }) => method === 'assistant.threads.setStatus' && args['channel_id'] === channel);
      return {
        snapshots: own.flatMap(({ snapshots }) => snapshots),
        apart: [...statuses.map(({ args }) => String(args['status'])), ...own.map(({ note }) => note)],
      };
    });
  }

  return {
    env: {
      WECOM_BOT_TOKEN: TOKEN,
      WECOM_BOT_AES_KEY: AES_KEY,
      WECOM_BOT_NAME: 'Parley',
      WECOM_API_URL: origin,
    },
    sayAll: (platform, said) => (platform === 'wecom' ? Promise.all(said.map(onWecom)) : onSlack(said)),
  };
}

/** A constant thread per person, as in Slack's assistant view. */
function threadOf(person: string): string {
  const digits = [...person].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1e6, 7);
  return `1759000000.${String(digits).padStart(6, '0')}`;
}

/** Escapes typed text like Slack. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
