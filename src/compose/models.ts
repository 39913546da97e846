import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createModelCatalog, type ModelCatalog } from '../models/model-catalog.ts';
import { parseModelsFile } from '../models/models-file.ts';
import type { Config } from '../settings/config.ts';

/** What Parley itself knows of models, for a folder of settings that was made before there was such a file. */
const OWN_FILE = fileURLToPath(new URL('../../config/models.json', import.meta.url));

/** Where the models stand: the file of the settings; where nobody named one and there is none, Parley's own. */
export function modelsFileOf({ modelsFile }: Pick<Config, 'modelsFile'>): string {
  return modelsFile.isNamed || existsSync(modelsFile.path) ? modelsFile.path : OWN_FILE;
}

/** @throws ConfigFileError; a start that gets here has looked at the file before (`config-files.ts`) */
export function readCatalog(config: Pick<Config, 'modelsFile'>): ModelCatalog {
  return createModelCatalog(parseModelsFile(readFileSync(modelsFileOf(config), 'utf8')));
}
