import { readFileSync } from 'node:fs';
import { createModelCatalog, type ModelCatalog } from '../../src/shared/models/model-catalog.ts';
import type { ModelEntry } from '../../src/shared/models/model-entry.ts';
import { parseModelsFile } from '../../src/shared/models/models-file.ts';

/** The models of `defaults/models.json`, as shipped. */
export function shippedModels(): ModelCatalog {
  return createModelCatalog(parseModelsFile(readFileSync('defaults/models.json', 'utf8')));
}

/** The same models, by name, as the request reader expects them. */
export function shippedModelsByName(): ReadonlyMap<string, ModelEntry> {
  return new Map(shippedModels().entries.map((entry) => [entry.name, entry]));
}
