import { readFileSync } from 'node:fs';
import { createModelCatalog, type ModelCatalog } from '../../shared/models/model-catalog.ts';
import { parseModelsFile, readModelsFile, type ModelFileEntry } from '../../shared/models/models-file.ts';
import type { Config } from '../config/config.ts';
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

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readCatalog({ modelsFile }: Pick<Config, 'modelsFile'>): ModelCatalog {
  return createModelCatalog(parseModelsFile(readFileSync(fileInUse(modelsFile), 'utf8')));
}
