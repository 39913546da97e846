import type { ToolDeclaration } from '../chat/chat-types.ts';
import { estimateTokens } from '../conversation/estimate-tokens.ts';

/** Estimates what the declarations of tools take of a prompt. @param factor see `estimateTokens` */
export function declarationTokens(tools: readonly ToolDeclaration[] = [], factor = 1): number {
  return tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool), factor), 0);
}
