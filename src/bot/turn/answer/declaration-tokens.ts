import type { ToolDeclaration } from '../../model/chat-types.ts';
import { estimatesOf } from '../conversation/estimate-tokens.ts';

const tokensOf = estimatesOf((tool: ToolDeclaration) => JSON.stringify(tool));

/** Estimates what the declarations of tools take of a prompt. @param factor see `estimateTokens` */
export function declarationTokens(tools: readonly ToolDeclaration[] = [], factor = 1): number {
  return tools.reduce((sum, tool) => sum + tokensOf(tool, factor), 0);
}
