import { currentTime } from './current-time.ts';
import { readPage } from './read-page.ts';
import { knowledgeSearch } from './knowledge-search.ts';
import type { ToolModule } from './tool.ts';
import { webSearch } from './web-search.ts';
import { whoAmI } from './who-am-i.ts';

/** The tools that there are, one line each (docs/ADD_A_TOOL.md). The model is offered them in this order. */
export const TOOLS: readonly ToolModule[] = [
  currentTime, //
  whoAmI,
  knowledgeSearch,
  readPage,
  webSearch,
];
