import { monotonicMs } from '../../../shared/clock.ts';
import type { ChatClient, ToolDeclaration } from '../../model/chat-types.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import { KNOWLEDGE_SEARCH } from '../../tools/knowledge-search.ts';
import type { ToolAsker } from '../../tools/tool.ts';
import { answerInRounds } from './tool-loop.ts';
import { NamedLinks } from './named-links.ts';
import { TurnSources } from './turn-sources.ts';
import type { AdmittedContext } from '../turn-context.ts';
import { TOOL_LIMITS } from './tool-limits.ts';
import type { TurnReport } from '../turn-ports.ts';
import { shouldBeBrief } from './load-shedding.ts';

export interface TurnToolOptions {
  chat: ChatClient;
  toolbox: Toolbox;
  report: Pick<TurnReport, 'toolEnded'>;
}

/** What a turn asks the model with: the tools that its person may use. */
export interface TurnTools {
  declared: readonly ToolDeclaration[];
  /** Answers in rounds: what tools find out is no step of the caller's. */
  chat: Pick<ChatClient, 'stream'>;
  /** What is said from here on, with links as they are to be shown. */
  links: NamedLinks;
  /** What the answer may cite. */
  sources: TurnSources;
}

/** @param showStatus shows what a tool is doing */
export function toolsOfTurn(
  options: TurnToolOptions,
  context: AdmittedContext,
  showStatus: (status: string) => void,
): TurnTools {
  const { chat, toolbox, report } = options;
  const asker = askerOf(context);
  const { turnId } = context.turn;
  // Each round costs another call of the model.
  const declared = shouldBeBrief(context) ? [] : toolbox.offer(asker);
  const sources = new TurnSources();
  // Where nothing is retrieved a number in brackets claims nothing.
  const maySearch = declared.some(({ name }) => name === KNOWLEDGE_SEARCH);
  const links = new NamedLinks(maySearch ? sources.marks : undefined);
  return {
    declared,
    links,
    sources,
    chat: {
      stream: (request, signal, onEvent) =>
        answerInRounds(
          {
            ...{ chat, toolbox, turnId, report, monotonicMs, asker, limits: TOOL_LIMITS, signal, showStatus, sources },
            told: (hosts) => links.toldBy(hosts),
          },
          request,
          onEvent,
        ),
    },
  };
}

/** What tools may know of a question: who asks, as the gate found out, and where. */
function askerOf({ account, newest: { chat }, question, scene }: AdmittedContext): ToolAsker {
  const place = { kind: chat.kind, id: chat.id };
  return { person: account, place, language: question.language, tools: scene?.tools, knowledge: scene?.knowledge };
}
