import { readFileSync } from 'node:fs';
import type { NowMs } from '../../shared/clock.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config, Secrets } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import { PUBLIC_WEB, type EgressPolicy } from '../../shared/web/egress-policy.ts';
import { TOOLS } from '../tools/registry.ts';
import { createToolbox, type Toolbox } from '../tools/toolbox.ts';
import { parseToolsFile } from '../tools/tools-file.ts';

interface ToolboxParts {
  config: Config;
  secrets: Secrets;
  nowMs: NowMs;
  egress: EgressPolicy | undefined;
  /** The institution's documents. Undefined if there are no sources. */
  knowledge: Knowledge | undefined;
}

/**
 * Creates the tools that can run with these settings, by the rules of `TOOLS_FILE`.
 * @throws ConfigFileError; at start the file was already checked (`config-files.ts`)
 */
export function createTools({ config, secrets, nowMs, egress = PUBLIC_WEB, knowledge }: ToolboxParts): Toolbox {
  const rules = parseToolsFile(readFileSync(fileInUse(config.toolsFile), 'utf8'), TOOLS);
  const tools = TOOLS.flatMap((tool) => {
    const named = { settings: pick(config, tool.settings), secrets: pick(secrets, tool.secrets) };
    return tool.create({ ...named, nowMs, egress, knowledge, own: rules[tool.name] ?? {} }) ?? [];
  });
  return createToolbox(tools, rules);
}

/** Only the fields with these names. */
function pick<Whole extends object>(whole: Whole, names: readonly (keyof Whole)[] = []): Whole {
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Whole;
}
