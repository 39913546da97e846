import { readFileSync } from 'node:fs';
import type { NowMs } from '../base/clock.ts';
import type { Config, Secrets } from '../settings/config.ts';
import { createCurrentTime } from '../tools/current-time.ts';
import { PUBLIC_WEB, type EgressPolicy } from '../tools/page/egress-policy.ts';
import { withoutEgressTo } from '../tools/page/never-reach.ts';
import { createReadPage } from '../tools/read-page.ts';
import { createBraveSearch } from '../tools/search/brave.ts';
import type { SearchWeb } from '../tools/search/search-request.ts';
import { createSearxngSearch } from '../tools/search/searxng.ts';
import { TOOL_NAMES } from '../tools/tool-names.ts';
import { createToolbox, type Toolbox } from '../tools/toolbox.ts';
import { parseToolsFile } from '../tools/tools-file.ts';
import { createWebSearch } from '../tools/web-search.ts';
import { createWhoAmI } from '../tools/who-am-i.ts';

interface ToolParts {
  config: Config;
  secrets: Secrets;
  nowMs: NowMs;
  egress: EgressPolicy | undefined;
}

/**
 * The tools that can run with these settings, by the rules of `TOOLS_FILE`.
 * @throws PolicyFileError; a start that gets here has looked at the file before (`config-files.ts`)
 */
export function createTools({ config, secrets, nowMs, egress: egress = PUBLIC_WEB }: ToolParts): Toolbox {
  const rules = parseToolsFile(readFileSync(config.toolsFile, 'utf8'), TOOL_NAMES);
  const search = searchOf(config, secrets);
  const tools = [
    createCurrentTime(nowMs),
    createWhoAmI(),
    createReadPage(withoutEgressTo(egress, rules['read_page']?.never ?? [])),
  ];
  return createToolbox(search ? [...tools, createWebSearch(search)] : tools, rules);
}

function searchOf({ webSearchUrl }: Config, { webSearchBraveKey }: Secrets): SearchWeb | undefined {
  if (webSearchUrl !== undefined) return createSearxngSearch(webSearchUrl);
  return webSearchBraveKey === undefined ? undefined : createBraveSearch(webSearchBraveKey);
}
