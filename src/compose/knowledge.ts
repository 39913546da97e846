import { existsSync, readFileSync } from 'node:fs';
import type { KeptKnowledge } from '../knowledge/create-knowledge.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config } from '../settings/config.ts';

/** What turns ask from now on, and what takes its sources over. */
export interface NextKnowledge {
  /** Undefined where there is no source. */
  knowledge: Knowledge | undefined;
  takeOver(): void;
}

/** Where the sources stand: undefined where nobody named a file and there is none, which means that there are no sources. */
export function knowledgeFileOf({ knowledgeFile }: Pick<Config, 'knowledgeFile'>): string | undefined {
  return knowledgeFile.isNamed || existsSync(knowledgeFile.path) ? knowledgeFile.path : undefined;
}

/** @throws ConfigFileError; a start that gets here has looked at the file before (`config-files.ts`) */
export function readKnowledge(config: Pick<Config, 'knowledgeFile'>, kept: KeptKnowledge): NextKnowledge {
  const path = knowledgeFileOf(config);
  const text = path === undefined ? NO_SOURCES : readFileSync(path, 'utf8');
  const { knowledge, takeOver } = kept.read(text, config.knowledgeFile.path);
  return { knowledge: knowledge.hasSources ? knowledge : undefined, takeOver };
}

const NO_SOURCES = '{"sources":[]}';
