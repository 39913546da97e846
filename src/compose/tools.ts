import { readFileSync } from 'node:fs';
import type { NowMs } from '../base/clock.ts';
import type { Config, Secrets } from '../settings/config.ts';
import { PUBLIC_WEB, type EgressPolicy } from '../tools/page/egress-policy.ts';
import { TOOLS } from '../tools/registry.ts';
import { createToolbox, type Toolbox } from '../tools/toolbox.ts';
import { parseToolsFile } from '../tools/tools-file.ts';

interface ToolboxParts {
  config: Config;
  secrets: Secrets;
  nowMs: NowMs;
  egress: EgressPolicy | undefined;
}

/**
 * The tools that can run with these settings, by the rules of `TOOLS_FILE`.
 * @throws PolicyFileError; a start that gets here has looked at the file before (`config-files.ts`)
 */
export function createTools({ config, secrets, nowMs, egress = PUBLIC_WEB }: ToolboxParts): Toolbox {
  const rules = parseToolsFile(readFileSync(config.toolsFile, 'utf8'), TOOLS);
  const tools = TOOLS.flatMap(
    ({ name, create }) => create({ config, secrets, nowMs, egress, own: rules[name] ?? {} }) ?? [],
  );
  return createToolbox(tools, rules);
}
