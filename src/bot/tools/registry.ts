import { currentTime } from './current-time.ts';
import { readPage } from './read-page.ts';
import { knowledgeSearch } from './knowledge-search.ts';
import type { ToolModule } from './tool.ts';
import { webSearch } from './web-search.ts';
import { whoAmI } from './who-am-i.ts';

/** All tools, one per line (docs/extending/ADD_A_TOOL.md), in the order in which the model is offered them. */
export const TOOLS: readonly ToolModule[] = [
  currentTime, //
  whoAmI,
  knowledgeSearch,
  readPage,
  webSearch,
];
