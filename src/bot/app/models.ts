import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createModelCatalog, type ModelCatalog } from '../../shared/models/model-catalog.ts';
import { parseModelsFile, readModelsFile, type ModelFileEntry } from '../../shared/models/models-file.ts';
import type { Config } from '../config/config.ts';

/** Parley's own models file, for a config directory from before this file existed. */
const OWN_FILE = fileURLToPath(new URL('../../../config/models.json', import.meta.url));

const EXAMPLES_FILE = fileURLToPath(new URL('../../../config/models.examples.json', import.meta.url));

/** Entries of well-known models to copy. Empty if the config directory has been replaced. */
export function readKnownModels(): ModelFileEntry[] {
  return existsSync(EXAMPLES_FILE) ? readModelsFile(readFileSync(EXAMPLES_FILE, 'utf8')) : [];
}

/** Path of the models file: the one from the settings, or Parley's own if none is set and the default does not exist. */
export function modelsFileOf({ modelsFile }: Pick<Config, 'modelsFile'>): string {
  return modelsFile.isNamed || existsSync(modelsFile.path) ? modelsFile.path : OWN_FILE;
}

/**
 * Models that the files of `config/` may refer to. Undefined if the chat service lists them: its list may change while the
 * files stay.
 */
export function modelsToRefer({ models, modelsFrom }: Config['chat']): readonly string[] | undefined {
  return modelsFrom === 'settings' ? models : undefined;
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readCatalog(config: Pick<Config, 'modelsFile'>): ModelCatalog {
  return createModelCatalog(parseModelsFile(readFileSync(modelsFileOf(config), 'utf8')));
}
