import { readFileSync } from 'node:fs';
import { readScenes } from '../../bot/app/scenes.ts';
import { checkSources } from '../../bot/knowledge/check-sources.ts';
import { parseKnowledgeFile, type KnowledgeFile } from '../../bot/knowledge/knowledge-file.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { Config } from '../../bot/config/config.ts';
import { fileInUse } from '../../bot/config/config-file.ts';
import { faultsOfKnowledgeAndScenes } from './config-files.ts';

const NAME = 'Knowledge';

/** Checks each knowledge source, and whether scenes refer to unknown ones. Faulty files are reported by another check. */
export async function checkKnowledge(config: Config): Promise<CheckResult[]> {
  if ((await faultsOfKnowledgeAndScenes(config)).length > 0) return [];
  const { sources } = readSources(config);
  const found = await checkSources(sources);
  const tried = found.map(({ source, detail, ...rest }) => ({ name: NAME, detail: `${source}: ${detail}`, ...rest }));
  return [
    ...tried,
    ...faultsOfScenes(
      config,
      sources.map(({ name }) => name),
    ),
  ];
}

function readSources({ knowledgeFile }: Config): KnowledgeFile {
  const path = fileInUse(knowledgeFile);
  return parseKnowledgeFile(readFileSync(path, 'utf8'), path);
}

/** With an unknown source, a scene has nothing to search. */
function faultsOfScenes(config: Config, known: readonly string[]): CheckResult[] {
  return readScenes(config).flatMap(({ name, knowledge = [] }) => {
    const unknown = knowledge.filter((source) => !known.includes(source));
    if (unknown.length === 0) return [];
    const { scenesFile, knowledgeFile } = config;
    return [
      {
        name: NAME,
        verdict: 'fault' as const,
        detail: `the scene ${name} (${fileInUse(scenesFile)}) names ${unknown.join(', ')}, which ${fileInUse(knowledgeFile)} does not define`,
        nextStep: known.length === 0 ? `describe the source in ${knowledgeFile.path}` : `it knows ${known.join(', ')}`,
      },
    ];
  });
}
