import { createSecretKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hmacBase64Url, randomToken } from '../../shared/crypto/ids.ts';
import { z } from 'zod';
import type { NowMs } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { connectRedis } from '../../shared/redis/redis.ts';
import { redisAddress } from './secrets.ts';
import type { LocalLogins, PersonView } from '../../simulator/api.ts';
import type { Group } from '../../simulator/directory.ts';
import type { LocalControls } from '../../simulator/local-controls.ts';
import type { ProtocolFactory } from '../../simulator/protocol.ts';
import { slackProtocol } from '../../simulator/slack/index.ts';
import { startMessenger, type Messenger } from '../../simulator/start-messenger.ts';
import { wecomProtocol } from '../../simulator/wecom/index.ts';
import { parseDirectoryFile, type ServicePerson } from '../../service/directory-file.ts';
import type { Config, Secrets } from '../config/config.ts';
import { fileInUse, type ConfigFile } from '../config/config-file.ts';

interface MessengerPartOptions {
  config: Config;
  secrets: Secrets;
  /** What its page may control in this process. Undefined if people other than the one at this machine may be served. */
  controls: LocalControls | undefined;
  /** The groups. Defaults to those of the file in use. */
  groups?: readonly Group[];
  nowMs: NowMs;
  log: Log;
}

export interface MessengerPart extends Pick<Messenger, 'url' | 'page' | 'driver' | 'tellStop'> {
  close(wereAnswering: boolean): Promise<void>;
}

const AI_BOT_ID = 'aibot-parley';
const PLAIN = 'plain:';
const GROUPS = z.array(z.object({ id: z.string(), name: z.string(), members: z.array(z.string()) }));

/** Starts the local messenger for the people of the directory, on a separate Redis connection. */
export async function startMessengerPart({
  config,
  secrets,
  controls,
  groups: ownGroups,
  nowMs,
  log,
}: MessengerPartOptions): Promise<MessengerPart> {
  const redis = connectRedis(redisAddress(config, secrets), 'wait', log, 'messenger');
  const people = await readPeople(config.service.directoryFile);
  const protocol = protocolOf(config, secrets);
  const known = new Set(people.map(({ view }) => view.id));
  const groups = (ownGroups ?? (await readGroups(config)))
    .map((group) => ({ ...group, members: group.members.filter((member) => known.has(member)) }))
    .filter((group) => group.members.length > 0);
  const messenger = await startMessenger({
    address: { port: config.local.messengerPort, host: '127.0.0.1', token: tokenOf(secrets) },
    redis,
    bot: { name: config.local.botName, url: config.http.publicUrl },
    protocol,
    service: {
      url: config.signIn.url,
      // If the service does not support the app's web sign-in, people type a password.
      localLogins: !protocol.signsInAtService && config.embedded.signIn ? loginsOf(people) : undefined,
    },
    office: { people: people.map(({ view }) => view), groups },
    controls,
    log,
    deps: { nowMs },
  });
  return {
    url: messenger.url,
    page: messenger.page,
    driver: messenger.driver,
    tellStop: () => messenger.tellStop(),
    async close(wereAnswering: boolean) {
      await messenger.close(wereAnswering);
      redis.disconnect();
    },
  };
}

/** Derived from a stored secret, so that tabs and bookmarks work after a restart. */
function tokenOf({ secretKey }: Secrets): string {
  return secretKey === undefined ? randomToken() : hmacBase64Url(createSecretKey(secretKey), 'messenger page');
}

export async function readGroups({ local }: Pick<Config, 'local'>): Promise<Group[]> {
  return GROUPS.parse(JSON.parse(await readFile(fileInUse(local.groupsFile), 'utf8')));
}

function protocolOf({ local, wecom, slack }: Config, secrets: Secrets): ProtocolFactory {
  if (local.messengerProtocol === 'slack') {
    return slackProtocol({
      signingSecret: secrets.slackSigningSecret ?? '',
      botToken: secrets.slackBotToken ?? '',
      client: { clientId: slack.clientId ?? '', clientSecret: secrets.slackClientSecret ?? '' },
      appToken: slack.connect === 'socket' ? secrets.slackAppToken : undefined,
    });
  }
  return wecomProtocol({
    bot: { token: secrets.wecomBotToken ?? '', aesKey: secrets.wecomBotAesKey ?? '', aiBotId: AI_BOT_ID },
    app: {
      corpId: wecom.app?.corpId ?? '',
      agentId: wecom.app?.agentId ?? '',
      agentSecret: secrets.wecomAgentSecret ?? '',
    },
    connection: wecom.connection && { botId: wecom.connection.botId, secret: secrets.wecomBotSecret ?? '' },
  });
}

interface DirectoryEntry {
  view: PersonView;
  person: ServicePerson;
}

/** The messenger's people: everyone in the directory with a WeCom user id. The simulated Slack uses the same ids. */
async function readPeople(file: ConfigFile | undefined): Promise<DirectoryEntry[]> {
  const people = file ? parseDirectoryFile(await readFile(fileInUse(file), 'utf8'), { allowPlainPasswords: true }) : [];
  return people.flatMap((person) => {
    const { messaging, profile } = person;
    const id = messaging['wecom'];
    if (id === undefined) return [];
    const { XM: name, BMMC: department } = profile.attributes;
    return [{ view: { id, name, department, isInactive: profile.active ? undefined : true }, person }];
  });
}

/** Logins of all people whose password is in plain text in the directory, as in local mode's own. */
function loginsOf(people: readonly DirectoryEntry[]): LocalLogins {
  const readable = people.filter(({ person }) => person.password.startsWith(PLAIN));
  return Object.fromEntries(
    readable.map(({ view, person }) => [
      view.id,
      { username: person.username, password: person.password.slice(PLAIN.length) },
    ]),
  );
}
