import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { KnowledgeLoader } from '../knowledge/create-knowledge.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config } from '../config/config.ts';

/** Knowledge for later turns, and the function that switches to its sources. */
export interface NextKnowledge {
  /** Undefined if there are no sources. */
  knowledge: Knowledge | undefined;
  takeOver(): void;
}

type KnowledgeConfig = Pick<Config, 'knowledgeFile' | 'mode'>;

/** Documents of a fictional institution. Real people must not get answers from them. */
export const EXAMPLE_KNOWLEDGE_FILE = fileURLToPath(new URL('../../../examples/knowledge.json', import.meta.url));

/**
 * Path of the sources file. If none is set and the default does not exist, local mode uses the example and a deployment for
 * real people has none. @returns undefined for none
 */
export function knowledgeFileOf({ knowledgeFile, mode }: KnowledgeConfig): string | undefined {
  if (knowledgeFile.isNamed || existsSync(knowledgeFile.path)) return knowledgeFile.path;
  return mode === 'local' && existsSync(EXAMPLE_KNOWLEDGE_FILE) ? EXAMPLE_KNOWLEDGE_FILE : undefined;
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readKnowledge(config: KnowledgeConfig, kept: KnowledgeLoader): NextKnowledge {
  const path = knowledgeFileOf(config);
  const text = path === undefined ? NO_SOURCES : readFileSync(path, 'utf8');
  const { knowledge, takeOver } = kept.read(text, path ?? config.knowledgeFile.path);
  return { knowledge: knowledge.hasSources ? knowledge : undefined, takeOver };
}

const NO_SOURCES = '{"sources":[]}';
