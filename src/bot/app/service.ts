import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { connectRedis } from '../../shared/redis/redis.ts';
import { readEngineCatalog } from './models.ts';
import { createKeyRing, redisAddress } from './secrets.ts';
import { gauge } from '../metrics/instruments.ts';
import type { LocalMode } from './local/local-mode.ts';
import { describePlatform } from '../platforms/registry.ts';
import { parseClientsFile, type ServiceClient } from '../../service/clients-file.ts';
import { parseDirectoryFile, type ServicePerson } from '../../service/directory-file.ts';
import { parseProfileMapFile } from '../../shared/sign-in/profile-map-file.ts';
import type { Institution, ServedFiles } from '../../service/service-options.ts';
import { CasSignIn } from '../../service/oauth/methods/cas-sign-in.ts';
import { OidcSignIn } from '../../service/oauth/methods/oidc-sign-in.ts';
import { wecomSignIn } from '../../service/oauth/methods/wecom-sign-in.ts';
import { startService } from '../../service/start-service.ts';
import type { Registry } from 'prom-client';
import type { Config, Secrets } from '../config/config.ts';
import { fileInUse, type ConfigFile } from '../config/config-file.ts';
import type { ConfigFileState } from '../metrics/config-file-state.ts';
import { isServiceAlone } from '../config/mode.ts';

interface ServicePartOptions {
  config: Config;
  secrets: Secrets;
  /** The clients if no file is set: the bot in local mode. */
  clients: LocalMode['clients'] | undefined;
  /** Proves to `npm run check` that it reached this process. */
  prove?(nonce: string): string;
  registry: Registry;
  /** State of the files on disk, for `/readyz`. */
  files?: ConfigFileState;
  nowMs: NowMs;
  log: Log;
}

/** The project's own pages, from which the built-in model answers. */
const DOCS_DIR = fileURLToPath(new URL('../../../', import.meta.url));

/** Starts the reference service from the settings, on a separate Redis connection. */
export async function startServicePart(options: ServicePartOptions) {
  const { config, secrets, clients, prove, registry, files, nowMs, log } = options;
  const redis = connectRedis(redisAddress(config, secrets), 'fail-fast', log, 'service');
  const { service: settings, wecom, local } = config;
  const isLocal = config.mode === 'local';
  const readFiles = async (): Promise<ServedFiles> => ({
    models: readEngineCatalog(config, secrets),
    clients: await readClients(settings.clientsFile, clients),
    directory: await readDirectory(settings.directoryFile, isLocal),
    institution: await readInstitution(settings, secrets),
  });
  const service = await startService({
    files: await readFiles(),
    address: {
      // Alone it listens on PORT; next to the bot, the bot does.
      port: isServiceAlone(config.roles) ? config.http.port : local.servicePort,
      host: config.http.host,
      // Outside local mode browsers use the configured address; in local mode, the address where the service listens.
      publicUrl: isLocal ? undefined : config.http.publicUrl,
      refusesForeignHosts: isLocal,
      trustedProxyHops: config.http.trustedProxyHops,
    },
    chat: { apiKeys: [...secrets.serviceApiKeys] },
    engine: {
      upstream:
        settings.upstreamUrl === undefined
          ? undefined
          : {
              url: settings.upstreamUrl,
              key: secrets.serviceUpstreamKey,
              models: settings.upstreamModels,
              relayedFields: settings.relayedFields,
              imageAddresses: settings.imageAddresses,
            },
      docsDir: DOCS_DIR,
      bareWords: isLocal && describePlatform(local.messengerProtocol).bareWords,
    },
    signIn: {
      messagingApps:
        wecom.app && secrets.wecomAgentSecret !== undefined
          ? [
              wecomSignIn({
                ...wecom.app,
                agentSecret: secrets.wecomAgentSecret,
                apiUrl: wecom.apiUrl,
                openUrl: wecom.openUrl,
              }),
            ]
          : undefined,
      accessTokenSec: settings.accessTokenSec,
      refreshTokenSec: settings.refreshTokenSec,
    },
    health: {
      metrics: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
      prove,
      remarks: () => ({ files: files?.sentence() }),
      tellForeignKeys: gauge(registry, {
        name: 'service_foreign_keys_processes',
        help: 'Service processes on the same Redis whose SECRET_KEY does not match; above 0 they share neither sign-ins nor limits',
      }),
    },
    redis,
    keyRing: createKeyRing(secrets),
    nowMs,
    log,
  });
  return {
    url: service.url,
    /**
     * Reads clients, people, models and profile map again. @returns a function that applies them. @throws ConfigFileError
     */
    async reread() {
      const files = await readFiles();
      return () => service.change(files);
    },
    async close() {
      await service.close(config.http.shutdownGraceSec * SECOND_MS);
      redis.disconnect();
    },
  };
}

async function readInstitution(
  { institution, institutionName: name, profileMapFile }: Config['service'],
  { serviceOidcClientSecret: clientSecret }: Secrets,
): Promise<Institution | undefined> {
  if (!institution) return undefined;
  const profileMap = parseProfileMapFile(profileMapFile === undefined ? '{}' : await readFile(profileMapFile, 'utf8'));
  if (institution.kind === 'cas') return { signIn: new CasSignIn({ url: institution.url, profileMap }), name };
  const { issuer, clientId, scope, clientAuth } = institution;
  const client = { issuer, clientId, clientSecret: clientSecret ?? '', scope, clientAuth };
  return { signIn: new OidcSignIn({ ...client, profileMap }), name };
}

async function readClients(path: string | undefined, made: LocalMode['clients'] | undefined): Promise<ServiceClient[]> {
  return parseClientsFile(path === undefined ? JSON.stringify(made ?? []) : await readFile(path, 'utf8'));
}

async function readDirectory(file: ConfigFile | undefined, allowPlainPasswords: boolean): Promise<ServicePerson[]> {
  return file ? parseDirectoryFile(await readFile(fileInUse(file), 'utf8'), { allowPlainPasswords }) : [];
}
