/** The tools that there are; `TOOLS_FILE` switches them by these names. */
export const TOOL_NAMES = ['current_time', 'who_am_i', 'web_search', 'read_page'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];
