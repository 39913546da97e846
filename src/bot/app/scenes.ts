import { readFileSync } from 'node:fs';
import { PLATFORM_NAMES } from '../domain/platform-name.ts';
import { parseScenesFile, type KnownNames, type Scene } from '../policy/scenes-file.ts';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import { modelsToRefer } from './models.ts';
import { TOOLS } from '../tools/registry.ts';

/** Names that scenes may refer to. */
export function knownToScenes({ chat }: Pick<Config, 'chat'>): KnownNames {
  return {
    models: modelsToRefer(chat),
    tools: TOOLS.map(({ name }) => name),
    platforms: PLATFORM_NAMES,
  };
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readScenes(config: Pick<Config, 'scenesFile' | 'chat'>): readonly Scene[] {
  return parseScenesFile(readFileSync(fileInUse(config.scenesFile), 'utf8'), knownToScenes(config));
}
