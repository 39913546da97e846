import { monotonicMs } from '../../../shared/clock.ts';
import type { ChatClient, ToolDeclaration } from '../../model/chat-types.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import { KNOWLEDGE_SEARCH } from '../../tools/knowledge-search.ts';
import type { ToolAsker } from '../../tools/tool.ts';
import { runToolLoop } from './tool-loop.ts';
import { NamedLinks } from './named-links.ts';
import { TurnSources } from './turn-sources.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import { TOOL_LIMITS } from './tool-limits.ts';
import type { TurnTrace } from '../../domain/turn-trace.ts';
import { traced } from './trace-calls.ts';
import type { TurnReport } from '../turn-ports.ts';

export interface TurnToolOptions {
  chat: ChatClient;
  toolbox: Toolbox;
  report: Pick<TurnReport, 'toolEnded' | 'costIncurred'>;
}

/** Tools of one turn: those that the user may use, and their results. */
export interface TurnTools {
  declared: readonly ToolDeclaration[];
  /** Runs the tool loop, so that the caller does not handle tool calls. */
  chat: Pick<ChatClient, 'stream'>;
  /** The text of the answer, with links rewritten for display. */
  links: NamedLinks;
  /** Sources that the answer may cite. */
  sources: TurnSources;
}

/** Properties of the turn that its tools depend on. */
export interface ToolTurn {
  turnId: DeliveryId;
  trace: TurnTrace;
  asker: ToolAsker;
  /** Whether the answer must be short: each round of tools costs another call to the model. */
  isBrief: boolean;
}

/** @param showStatus shows the activity of a tool */
export function toolsOfTurn(
  { chat, toolbox, report }: TurnToolOptions,
  { turnId, trace, asker, isBrief }: ToolTurn,
  showStatus: (status: string) => void,
): TurnTools {
  const declared = isBrief ? [] : toolbox.offer(asker);
  const sources = new TurnSources();
  // Without retrieval, a bracketed number is not a citation.
  const maySearch = declared.some(({ name }) => name === KNOWLEDGE_SEARCH);
  const links = new NamedLinks(maySearch ? sources.marks : undefined);
  const toolEnded: TurnReport['toolEnded'] = (event) => {
    if (event.tool === KNOWLEDGE_SEARCH && event.outcome === 'done') sources.noteSearch();
    report.toolEnded(event);
  };
  return {
    declared,
    links,
    sources,
    chat: {
      stream: (request, signal, onEvent) =>
        runToolLoop(
          {
            chat: traced(chat, trace),
            toolbox,
            turnId,
            report: { toolEnded },
            monotonicMs,
            asker,
            limits: TOOL_LIMITS,
            signal,
            showStatus,
            sources,
            onHostsNamed: (hosts) => links.allowHosts(hosts),
          },
          request,
          onEvent,
        ),
    },
  };
}
