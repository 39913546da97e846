import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createModelCatalog, type ModelCatalog } from '../../shared/models/model-catalog.ts';
import { parseModelsFile, readModelsFile, type WrittenEntry } from '../../shared/models/models-file.ts';
import type { Config } from '../config/config.ts';

/** What Parley itself knows of models, for a folder of settings that was made before there was such a file. */
const OWN_FILE = fileURLToPath(new URL('../../../config/models.json', import.meta.url));

const EXAMPLES_FILE = fileURLToPath(new URL('../../../config/models.examples.json', import.meta.url));

/** Entries of well-known models, to be copied; none where somebody's own folder stands in the place of ours. */
export function readKnownModels(): WrittenEntry[] {
  return existsSync(EXAMPLES_FILE) ? readModelsFile(readFileSync(EXAMPLES_FILE, 'utf8')) : [];
}

/** Where the models stand: the file of the settings; where nobody named one and there is none, Parley's own. */
export function modelsFileOf({ modelsFile }: Pick<Config, 'modelsFile'>): string {
  return modelsFile.isNamed || existsSync(modelsFile.path) ? modelsFile.path : OWN_FILE;
}

/** @throws ConfigFileError; a start that gets here has looked at the file before (`config-files.ts`) */
export function readCatalog(config: Pick<Config, 'modelsFile'>): ModelCatalog {
  return createModelCatalog(parseModelsFile(readFileSync(modelsFileOf(config), 'utf8')));
}
