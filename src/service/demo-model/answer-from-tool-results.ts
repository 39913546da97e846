import { localize, type Language } from '../../shared/text/texts.ts';
import { calledName, textOf, type ChatMessage } from '../chat/chat-message.ts';
import type { Finding } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

const MAX_RESULT_CHARS = 1_200;
/** Callers mark external results with a label and an explanation below it. Readers need neither. */
const LABELLED = /^\s*<([a-z_-]{1,40})>\n([\s\S]*)\n<\/\1>/i;

/** Repeats the results of the last tool calls unchanged: the rules cannot interpret them. */
export function answerFromToolResults(messages: ChatMessage[], language: Language): Finding {
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const calls = messages[start - 1]?.tool_calls ?? [];
  const told = messages.slice(start).map((message) => {
    const call = calls.find(({ id }) => id === message.tool_call_id);
    const name = call ? calledName(call) : (message.name ?? 'tool');
    return localize(BUILT_IN_TEXTS.toolResult, language, { name, result: quote(textOf(message)) });
  });
  return {
    text: `${told.join('\n\n')}\n\n${localize(BUILT_IN_TEXTS.toolResultEnd, language)}`,
    thought: localize(BUILT_IN_TEXTS.thoughtToolResult, language, { count: told.length }),
  };
}

/** The beginning of a result, formatted as a quotation. */
function quote(result: string): string {
  const letters = [...(LABELLED.exec(result)?.[2] ?? result).trim()];
  const shown = letters.slice(0, MAX_RESULT_CHARS).join('');
  const lines = (letters.length > MAX_RESULT_CHARS ? `${shown}…` : shown).split(/\r?\n/);
  return lines.map((line) => (line.trim() === '' ? '>' : `> ${line}  `.trimEnd())).join('\n');
}
