import { readFileSync } from 'node:fs';
import type { NowMs } from './base/clock.ts';
import type { Config } from './settings/config.ts';
import { createCurrentTime } from './tools/current-time.ts';
import { TOOL_NAMES } from './tools/tool-names.ts';
import { createToolbox, type Toolbox } from './tools/toolbox.ts';
import { parseToolsFile } from './tools/tools-file.ts';
import { createWhoAmI } from './tools/who-am-i.ts';

/**
 * The tools that can run with these settings, by the rules of `TOOLS_FILE`.
 * @throws PolicyFileError; a start that gets here has looked at the file before (`named-files.ts`)
 */
export function createTools({ config, nowMs }: { config: Config; nowMs: NowMs }): Toolbox {
  const rules = parseToolsFile(readFileSync(config.toolsFile, 'utf8'), TOOL_NAMES);
  return createToolbox([createCurrentTime(nowMs), createWhoAmI()], rules);
}
