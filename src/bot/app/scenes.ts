import { existsSync, readFileSync } from 'node:fs';
import { PLATFORM_NAMES } from '../domain/platform-name.ts';
import { parseScenesFile, type KnownNames, type Scene } from '../policy/scenes-file.ts';
import type { Config } from '../config/config.ts';
import { modelsToRefer } from './models.ts';
import { TOOLS } from '../tools/registry.ts';

/**
 * Path of the scenes file. Undefined if none is set and the default does not exist: an older config directory has no scenes.
 */
export function scenesFileOf({ scenesFile }: Pick<Config, 'scenesFile'>): string | undefined {
  return scenesFile.isNamed || existsSync(scenesFile.path) ? scenesFile.path : undefined;
}

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
  const path = scenesFileOf(config);
  return path === undefined ? [] : parseScenesFile(readFileSync(path, 'utf8'), knownToScenes(config));
}
