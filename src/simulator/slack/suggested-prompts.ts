import type { PromptsView } from '../api.ts';
import { asObject, textOf, type CallArguments } from './call-arguments.ts';
import { SlackFault } from './slack-fault.ts';

/** Maximum number of prompts (PLATFORM_FACTS.md slack-assistant). */
const MAX_PROMPTS = 4;

/** Prompts from `assistant.threads.setSuggestedPrompts`. @throws SlackFault `invalid_arguments` */
export function readPrompts(args: CallArguments): PromptsView {
  const { prompts } = args;
  if (!Array.isArray(prompts) || prompts.length === 0 || prompts.length > MAX_PROMPTS)
    throw new SlackFault('invalid_arguments');
  const items = prompts.map((prompt) => {
    const [title, message] = [textOf(asObject(prompt), 'title'), textOf(asObject(prompt), 'message')];
    if (title === undefined || message === undefined) throw new SlackFault('invalid_arguments');
    return { title, message };
  });
  return { title: textOf(args, 'title'), items };
}
