import { readFileSync } from 'node:fs';
import type { KnowledgeLoader } from '../knowledge/create-knowledge.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';

/** Knowledge for later turns, and the function that switches to its sources. */
export interface NextKnowledge {
  /** Undefined if there are no sources. */
  knowledge: Knowledge | undefined;
  takeOver(): void;
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
export function readKnowledge({ knowledgeFile }: Pick<Config, 'knowledgeFile'>, kept: KnowledgeLoader): NextKnowledge {
  const path = fileInUse(knowledgeFile);
  const { knowledge, takeOver } = kept.read(readFileSync(path, 'utf8'), path);
  return { knowledge: knowledge.hasSources ? knowledge : undefined, takeOver };
}
