import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { NowMs } from './base/clock.ts';
import type { Log } from './base/log.ts';
import { connectRedis } from './base/redis.ts';
import { redisAddress } from './secret-parts.ts';
import { startMessenger } from './messenger/start-messenger.ts';
import { parseDirectoryFile } from './service/directory-file.ts';
import type { Config, Secrets } from './settings/config.ts';

interface MessengerPartOptions {
  config: Config;
  secrets: Secrets;
  nowMs: NowMs;
  log: Log;
}

const GROUPS_FILE = new URL('../config/groups.json', import.meta.url);
const AI_BOT_ID = 'aibot-parley';
const GROUPS = z.array(z.object({ id: z.string(), name: z.string(), members: z.array(z.string()) }));

/** Starts the local messaging app for the people of the directory, on a Redis connection of its own. */
export async function startMessengerPart({ config, secrets, nowMs, log }: MessengerPartOptions) {
  const redis = connectRedis(redisAddress(config, secrets), 'wait', log, 'messenger');
  const people = await readPeople(config.service.directoryFile);
  const known = new Set(people.map(({ id }) => id));
  const groups = GROUPS.parse(JSON.parse(await readFile(GROUPS_FILE, 'utf8')))
    .map((group) => ({ ...group, members: group.members.filter((member) => known.has(member)) }))
    .filter((group) => group.members.length > 0);
  const messenger = await startMessenger({
    port: config.local.messengerPort,
    host: '127.0.0.1',
    redis,
    botUrl: config.http.publicUrl,
    serviceUrl: new URL(config.signIn.url).origin,
    bot: {
      token: secrets.wecomBotToken ?? '',
      aesKey: secrets.wecomBotAesKey ?? '',
      name: config.wecom.botName,
      aiBotId: AI_BOT_ID,
    },
    app: {
      corpId: config.wecom.app?.corpId ?? '',
      agentId: config.wecom.app?.agentId ?? '',
      agentSecret: secrets.wecomAgentSecret ?? '',
    },
    people,
    groups,
    nowMs,
    log,
  });
  return {
    url: messenger.url,
    async close() {
      await messenger.close();
      redis.disconnect();
    },
  };
}

/** The messenger's people: everybody in the directory with a WeCom user id. */
async function readPeople(path: string | undefined) {
  const people =
    path === undefined ? [] : parseDirectoryFile(await readFile(path, 'utf8'), { allowPlainPasswords: true });
  return people.flatMap(({ messaging, profile }) =>
    messaging['wecom'] === undefined
      ? []
      : [{ id: messaging['wecom'], name: profile.attributes.XM, department: profile.attributes.BMMC }],
  );
}
