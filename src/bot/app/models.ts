import { readFileSync } from 'node:fs';
import { createModelCatalog, type ModelCatalog } from '../../shared/models/model-catalog.ts';
import { parseModelsFile, readModelsFile, type ModelFileEntry } from '../../shared/models/models-file.ts';
import { fillSecret } from '../../shared/models/engine-headers.ts';
import type { ModelEntry } from '../../shared/models/model-entry.ts';
import type { Config, Secrets } from '../config/config.ts';
import { fileInUse, shippedFile } from '../config/config-file.ts';

/** Entries of well-known models to copy. */
export function readKnownModels(): ModelFileEntry[] {
  return readModelsFile(readFileSync(shippedFile('models.examples.json'), 'utf8'));
}

/**
 * Models that the files of `config/` may refer to. Undefined if the chat service lists them: its list may change while the
 * files stay.
 */
export function modelsToRefer({ models, modelsFrom }: Config['chat']): readonly string[] | undefined {
  return modelsFrom === 'settings' ? models : undefined;
}

/**
 * The models without their headers, for callers that send nothing.
 * @throws ConfigFileError; at start the file was already checked (`config-files.ts`)
 */
export function readCatalog(config: ModelsConfig): ModelCatalog {
  return createModelCatalog(entriesOf(config).map((entry) => ({ ...entry, headers: {} })));
}

/**
 * The models for the bot's calls of CHAT_BASE_URL. With an embedded service, or with SERVICE_UPSTREAM_URL, that is not the
 * engine, so the headers are left out. @throws ConfigFileError
 */
export function readChatCatalog(config: Config, secrets: Secrets): ModelCatalog {
  const isEngine = !config.embedded.chat && config.service.upstreamUrl === undefined;
  return isEngine ? readEngineCatalog(config, secrets) : readCatalog(config);
}

/** The models for the service's calls of SERVICE_UPSTREAM_URL. @throws ConfigFileError */
export function readEngineCatalog(config: ModelsConfig, { modelsSecret }: Pick<Secrets, 'modelsSecret'>): ModelCatalog {
  return createModelCatalog(
    entriesOf(config).map((entry) => ({ ...entry, headers: fillSecret(entry.headers, modelsSecret) })),
  );
}

type ModelsConfig = Pick<Config, 'modelsFile' | 'hasModelsSecret'>;

function entriesOf({ modelsFile, hasModelsSecret }: ModelsConfig): ModelEntry[] {
  return parseModelsFile(readFileSync(fileInUse(modelsFile), 'utf8'), { hasSecret: hasModelsSecret });
}
