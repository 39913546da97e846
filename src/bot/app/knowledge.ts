import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { KeptKnowledge } from '../knowledge/create-knowledge.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config } from '../config/config.ts';

/** What turns ask from now on, and what takes its sources over. */
export interface NextKnowledge {
  /** Undefined where there is no source. */
  knowledge: Knowledge | undefined;
  takeOver(): void;
}

type KnowledgeConfig = Pick<Config, 'knowledgeFile' | 'mode'>;

/** The documents of an institution that does not exist; nobody real is to be told what they say. */
export const EXAMPLE_KNOWLEDGE_FILE = fileURLToPath(new URL('../../../examples/knowledge.json', import.meta.url));

/**
 * Where the sources stand. Where nobody named a file and there is none, local mode has the example's, and whoever serves real people
 * has none. @returns undefined for none
 */
export function knowledgeFileOf({ knowledgeFile, mode }: KnowledgeConfig): string | undefined {
  if (knowledgeFile.isNamed || existsSync(knowledgeFile.path)) return knowledgeFile.path;
  return mode === 'local' && existsSync(EXAMPLE_KNOWLEDGE_FILE) ? EXAMPLE_KNOWLEDGE_FILE : undefined;
}

/** @throws ConfigFileError; a start that gets here has looked at the file before (`config-files.ts`) */
export function readKnowledge(config: KnowledgeConfig, kept: KeptKnowledge): NextKnowledge {
  const path = knowledgeFileOf(config);
  const text = path === undefined ? NO_SOURCES : readFileSync(path, 'utf8');
  const { knowledge, takeOver } = kept.read(text, path ?? config.knowledgeFile.path);
  return { knowledge: knowledge.hasSources ? knowledge : undefined, takeOver };
}

const NO_SOURCES = '{"sources":[]}';
