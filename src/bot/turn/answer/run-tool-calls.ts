import { inSpan, isTracing } from '../../../shared/tracing/tracing.ts';
import { ChatError } from '../../model/chat-error.ts';
import type { ToolCall } from '../../model/chat-types.ts';
import { ToolError } from '../../tools/tool-error.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import type { ToolCallContext, ToolUse } from '../../tools/tool.ts';
import type { ToolLimits } from './tool-limits.ts';
import type { ToolOutcome, TurnReport } from '../turn-ports.ts';
import type { DeliveryId } from '../../domain/ids.ts';

export interface ToolRunOptions {
  toolbox: Toolbox;
  context: ToolCallContext;
  limits: ToolLimits;
  turnId: DeliveryId;
  report: Pick<TurnReport, 'toolEnded'>;
  /** The signal of the turn: aborted by a stop command, a newer epoch or a graceful shutdown. */
  signal: AbortSignal;
  /** Shows the current activity. */
  showStatus(status: string): void;
}

export interface ToolResult {
  text: string;
  /** Whether the call ran and its tool finds addresses; other results name none. */
  namesAddresses: boolean;
}

const MAX_STATUS_CHARS = 120;

/**
 * Runs the calls of one round in parallel. A failure of a tool becomes text for the model; only the turn's own signal ends
 * the round, immediately, even if a tool ignores it.
 * @returns one result per call, in order. @throws ChatError `chat_cancelled`
 */
export async function runToolCalls(options: ToolRunOptions, calls: readonly ToolCall[]): Promise<ToolResult[]> {
  const { toolbox, context, limits, turnId, report, showStatus } = options;
  const prepared = calls.map((call, position) =>
    position < limits.callsARound
      ? toolbox.prepare(call, context)
      : { fault: `Not run: at most ${limits.callsARound} calls at once. Call it again.` },
  );
  const statuses = prepared.flatMap((use) => ('run' in use ? [statusLine(use.status)] : []));
  if (statuses.length > 0) showStatus([...new Set(statuses)].join('\n'));
  const results = prepared.map(async (use, position) => {
    const startedMs = performance.now();
    const name = calls[position]?.name ?? '';
    const tool = toolbox.has(name) ? name : 'unknown';
    const { outcome, text } = await runTraced(tool, async () =>
      'run' in use ? runOne(options, use) : { outcome: 'refused', text: use.fault },
    );
    const durationMs = performance.now() - startedMs;
    report.toolEnded({ turnId, tool, outcome, durationMs });
    return { text, namesAddresses: outcome === 'done' && toolbox.findsAddresses(name) };
  });
  return Promise.all(results);
}

interface RanTool {
  outcome: ToolOutcome;
  text: string;
}

/** Runs a tool in its span. Its arguments and its result are never recorded. */
function runTraced(tool: string, run: () => Promise<RanTool>): Promise<RanTool> {
  if (!isTracing()) return run();
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool };
  return inSpan(`execute_tool ${tool}`, { attributes }, async (span) => {
    const ran = await run();
    span.set({ 'parley.outcome': ran.outcome, 'error.type': ran.outcome === 'done' ? undefined : ran.outcome });
    return ran;
  });
}

async function runOne({ limits, signal }: ToolRunOptions, use: ToolUse): Promise<RanTool> {
  const ending = new AbortController();
  const cancel = () => ending.abort(new ChatError('chat_cancelled', 'The turn ended while a tool ran'));
  const timer = setTimeout(() => ending.abort(), limits.callMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const ended = new Promise<never>((_, reject) =>
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason as Error), { once: true }),
  );
  // A tool may throw before this promise is awaited.
  ended.catch(() => undefined);
  try {
    ending.signal.throwIfAborted();
    return { outcome: 'done', text: await Promise.race([use.run(ending.signal), ended]) };
  } catch (error) {
    if (signal.aborted) throw ending.signal.reason;
    if (ending.signal.aborted) return { outcome: 'timeout', text: 'The tool took too long and was ended.' };
    return { outcome: 'failed', text: error instanceof ToolError ? error.message : 'The tool failed.' };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    ending.abort();
  }
}

/** One line of limited length, because a status may contain text from the model. */
function statusLine(status: string): string {
  const letters = [...status.replace(/\s+/gu, ' ').trim()];
  return letters.length > MAX_STATUS_CHARS ? `${letters.slice(0, MAX_STATUS_CHARS).join('')}…` : letters.join('');
}
