import { existsSync, readFileSync } from 'node:fs';
import { PLATFORM_NAMES } from '../domain/platform-name.ts';
import { parseScenesFile, type KnownNames, type Scene } from '../policy/scenes-file.ts';
import type { Config } from '../config/config.ts';
import { TOOLS } from '../tools/registry.ts';

/** Where the scenes stand; undefined where nobody named a file and there is none: a folder of settings from before has no scenes. */
export function scenesFileOf({ scenesFile }: Pick<Config, 'scenesFile'>): string | undefined {
  return scenesFile.isNamed || existsSync(scenesFile.path) ? scenesFile.path : undefined;
}

/** What scenes may name. */
export function knownToScenes({ chat }: Pick<Config, 'chat'>): KnownNames {
  return {
    models: chat.models,
    tools: TOOLS.map(({ name }) => name),
    platforms: PLATFORM_NAMES,
  };
}

/** @throws ConfigFileError; a start that gets here has looked at the file before (`config-files.ts`) */
export function readScenes(config: Pick<Config, 'scenesFile' | 'chat'>): readonly Scene[] {
  const path = scenesFileOf(config);
  return path === undefined ? [] : parseScenesFile(readFileSync(path, 'utf8'), knownToScenes(config));
}
