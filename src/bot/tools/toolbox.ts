import { KNOWLEDGE_SEARCH } from './knowledge-search.ts';
import { matches, isPlaceEnabled } from '../policy/subject.ts';
import type { ToolRules } from './tools-file.ts';
import type { Tool, ToolAsker, ToolCallContext, ToolUse } from './tool.ts';

/** The tools of this deployment. Access is decided from the facts of the turn, never by the model. */
export interface Toolbox {
  /** Tools that this person may use in this place. */
  offer(asker: ToolAsker): readonly Pick<Tool, 'name' | 'description' | 'parameters'>[];
  /**
   * Validates a call from the model. Rights are checked again, because a model may name a tool that it was not offered
   * (SECURITY.md tool-rights). @returns the call, or the reason for its refusal in words for the model
   */
  prepare(call: { name: string; argumentsJson: string }, context: ToolCallContext): ToolUse | { fault: string };
  /** Whether the tool exists. Unknown names come from the model and must not become metric labels. */
  has(name: string): boolean;
  /** Whether addresses in the results of this tool may be opened. */
  findsAddresses(name: string): boolean;
}

/** @param tools tools that can run with the current settings */
export function createToolbox(tools: readonly Tool[], rules: ToolRules): Toolbox {
  const mayUse = ({ name, isPrivateOnly }: Tool, asker: ToolAsker): boolean => {
    const { person, place, tools: inScene } = asker;
    if (inScene && !inScene.includes(name) && !namesSourcesFor(name, asker)) return false;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule?.on || (isPrivateOnly && place.kind !== 'private')) return false;
    return matches(rule.who, person) && isPlaceEnabled(rule, place);
  };
  const declared = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  return {
    offer: (asker) => declared.filter((_declaration, position) => mayUse(tools[position]!, asker)),
    prepare({ name, argumentsJson }, context) {
      const tool = tools.find((one) => one.name === name);
      if (!tool || !mayUse(tool, context)) return { fault: 'There is no such tool here.' };
      return tool.prepare(argumentsJson, context);
    },
    has: (name) => tools.some((tool) => tool.name === name),
    findsAddresses: (name) => tools.some((tool) => tool.name === name && tool.findsAddresses),
  };
}

/** A scene that names knowledge sources enables their search, whatever its list of tools says. */
function namesSourcesFor(name: string, { knowledge = [] }: ToolAsker): boolean {
  return name === KNOWLEDGE_SEARCH && knowledge.length > 0;
}
