import { createLog } from '../../shared/log.ts';
import { connectRedis } from '../../shared/redis/redis.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { findForeignKeys } from '../../service/shared-keys.ts';
import { readEngineCatalog } from '../../bot/app/models.ts';
import { headersAt } from '../../shared/models/model-catalog.ts';
import { faultsOfModelsFile } from './config-files.ts';
import { createKeyRing, redisAddress } from '../../bot/app/secrets.ts';
import { checkChat } from './check-chat.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import type { Check } from './run-checks.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { findMissingDependencies } from '../../bot/app/missing-dependencies.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import { resultsOf } from './results-of.ts';

const KEYS_LIMIT_MS = 5 * SECOND_MS;
const UPSTREAM_NAMES = "the engine's names in SERVICE_UPSTREAM_MODELS (svc-plus=NAME)";

/** The checks of `npm run check` for a stand-alone chat and sign-in service. */
export function serviceChecks(config: Config, secrets: Secrets): Check[] {
  const { upstreamUrl, institution } = config.service;
  return [
    { name: 'Service', run: () => checkLacks(config, secrets) },
    { name: 'Service keys', run: () => checkKeys(config, secrets) },
    ...(upstreamUrl === undefined ? [] : [engineCheck(upstreamUrl, config, secrets)]),
    ...(institution === undefined ? [] : [{ name: 'Institution', run: () => checkInstitution(institution) }]),
  ];
}

async function checkLacks(config: Config, secrets: Secrets): Promise<CheckResult[]> {
  const { ok, warning, fault } = resultsOf('Service');
  const lacks = await findMissingDependencies(config, secrets);
  if (lacks.length === 0) return [ok('API keys, applications and people are configured')];
  return lacks.map(({ sentence, isAllLost }) => (isAllLost ? fault : warning)(sentence));
}

/** Compares the keys with those of the running service processes. Says nothing without Redis, which has its own check. */
async function checkKeys(config: Config, secrets: Secrets): Promise<CheckResult[]> {
  if (config.embedded.redis || secrets.secretKey === undefined) return [];
  const redis = connectRedis(
    redisAddress(config, secrets),
    'wait',
    createLog({ level: 'silent', format: 'json' }),
    'check',
  );
  redis.on('error', () => undefined);
  try {
    const asked = findForeignKeys(redis, createKeyRing(secrets), Date.now());
    const { sentence } = await withTimeout(asked, KEYS_LIMIT_MS);
    return sentence === undefined ? [] : [resultsOf('Service keys').fault(sentence)];
  } catch {
    return [];
  } finally {
    redis.disconnect();
  }
}

/** Checks the engine for the models that the service offers. */
function engineCheck(baseUrl: string, config: Config, secrets: Secrets): Check {
  const { chat, service } = config;
  const nameThere = (model: string) => service.upstreamModels[model] ?? model;
  const nameHere = (there?: string) => chat.models.find((model) => nameThere(model) === there) ?? there;
  const models = chat.models.map(nameThere);
  return {
    name: 'Engine',
    async run() {
      // Another check reports a faulty file.
      const isRead = (await faultsOfModelsFile(config)).length === 0;
      const catalog = isRead ? readEngineCatalog(config, secrets) : undefined;
      return checkChat({
        ...{ baseUrl, apiKey: secrets.serviceUpstreamKey ?? '', models, model: nameThere(chat.model) },
        headersFor: (there) => (catalog ? headersAt(catalog, nameHere(there)) : {}),
        title: 'Engine',
        settings: {
          baseUrl: 'SERVICE_UPSTREAM_URL',
          apiKey: 'SERVICE_UPSTREAM_KEY',
          models: UPSTREAM_NAMES,
          model: UPSTREAM_NAMES,
          fallbackModel: UPSTREAM_NAMES,
        },
      });
    },
  };
}

async function checkInstitution(institution: NonNullable<Config['service']['institution']>): Promise<CheckResult[]> {
  const { ok, fault } = resultsOf('Institution');
  const isOidc = institution.kind === 'oidc';
  const address = isOidc
    ? `${institution.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    : `${institution.url}/login`;
  const setting = isOidc ? 'SERVICE_OIDC_ISSUER' : 'SERVICE_CAS_URL';
  const answer = await requestForCheck(address);
  const isThere = isOidc ? answer.status === 200 : answer.status > 0 && answer.status < 400;
  if (isThere) return [ok(`answers at ${address}`)];
  const detail = 'code' in answer ? `cannot be reached (${answer.code})` : `${address} answers ${answer.status}`;
  return [fault(detail, `Check ${setting}`)];
}
