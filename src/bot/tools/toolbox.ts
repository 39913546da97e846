import { KNOWLEDGE_SEARCH } from './knowledge-search.ts';
import { matches, isOpen } from '../policy/subject.ts';
import type { ToolRules } from './tools-file.ts';
import type { Tool, ToolAsker, ToolCallContext, ToolUse } from './tool.ts';

/** The tools of this deployment. Who may use which is judged here, by the turn's own facts, never by the model. */
export interface Toolbox {
  /** The tools that this person may use here. */
  offer(asker: ToolAsker): readonly Pick<Tool, 'name' | 'description' | 'parameters'>[];
  /**
   * Looks at a call that the model asked for. Rights are judged again, since a model may name a tool that it was not
   * offered (SECURITY.md tool-rights). @returns the use, or what stands against it, in words for the model
   */
  prepare(call: { name: string; argumentsJson: string }, context: ToolCallContext): ToolUse | { fault: string };
  /** Whether there is such a tool: other names are the model's words, and no label for counters. */
  has(name: string): boolean;
  /** Whether addresses in the results of this tool may be opened. */
  findsAddresses(name: string): boolean;
}

/** @param tools those that can run with the settings as they are */
export function createToolbox(tools: readonly Tool[], rules: ToolRules): Toolbox {
  const mayUse = ({ name, isPrivateOnly }: Tool, asker: ToolAsker): boolean => {
    const { person, place, tools: inScene } = asker;
    if (inScene && !inScene.includes(name) && !namesSourcesFor(name, asker)) return false;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule?.on || (isPrivateOnly && place.kind !== 'private')) return false;
    return matches(rule.who, person) && isOpen(rule, place);
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

/** Where a scene names sources it means that they are searched, whatever list of tools stands beside. */
function namesSourcesFor(name: string, { knowledge = [] }: ToolAsker): boolean {
  return name === KNOWLEDGE_SEARCH && knowledge.length > 0;
}
