import { broken, readReplies } from './engine-events.ts';
import type { EngineReply, ReplyNormalizer } from './own-replies.ts';

type Fields = Record<string, unknown>;

/** Parses a complete answer, also if the engine streamed it. @throws ChatApiError */
export function readWholeReply(body: Buffer, own: ReplyNormalizer): EngineReply {
  const { replies: all, isDone } = readReplies(body);
  const replies = all.filter(hasChoices);
  const [first] = replies;
  if (!first) throw broken('The engine returned an invalid answer');
  const taken = replies.map((reply) => own.normalize(reply));
  const isStreamed = replies.length > 1 || isChunk(first);
  if (isStreamed && !own.hasFinished) {
    if (!isDone) throw broken('The engine ended its answer early');
    const rest = own.rest('whole');
    if (rest) taken.push(rest);
  }
  if (!own.hasContent) throw broken('The engine returned an empty answer');
  return isStreamed ? joined(taken) : first;
}

/** Merges chunks into one response. */
function joined(chunks: readonly EngineReply[]): EngineReply {
  const message: Fields = { role: 'assistant', content: '' };
  let [finish, usage]: unknown[] = [null, undefined];
  for (const chunk of chunks) {
    const choice = choiceOf(chunk);
    const delta = (choice?.['delta'] ?? choice?.['message'] ?? {}) as Fields;
    for (const field of ['content', 'reasoning_content'])
      if (typeof delta[field] === 'string')
        message[field] = `${(message[field] as string | undefined) ?? ''}${delta[field]}`;
    if (delta['tool_calls'] !== undefined)
      message['tool_calls'] = (delta['tool_calls'] as Fields[]).map(({ index: _, ...call }) => call);
    finish = choice?.['finish_reason'] ?? finish;
    usage = chunk.usage ?? usage;
  }
  if (message['content'] === '' && message['tool_calls'] !== undefined) message['content'] = null;
  const choice = { index: 0, message, finish_reason: finish };
  return { ...chunks[0], object: 'chat.completion', choices: [choice], usage } as EngineReply;
}

/** Converts a complete response to the chunks of a stream. @throws ChatApiError */
export function chunksOf(body: Buffer, own: ReplyNormalizer): EngineReply[] {
  const { usage, choices, ...reply } = readWholeReply(body, own);
  const head = { ...reply, object: 'chat.completion.chunk' };
  const chunks = (choices as Fields[]).map(({ message, ...choice }) => {
    const { tool_calls: calls, ...delta } = (message ?? {}) as Fields;
    const indexed = (calls as Fields[] | undefined)?.map((call, index) => ({ index, ...call }));
    return {
      ...head,
      choices: [
        { ...choice, delta: { ...delta, tool_calls: indexed }, finish_reason: choice['finish_reason'] ?? 'stop' },
      ],
    };
  });
  return usage === undefined || usage === null ? chunks : [...chunks, { ...head, choices: [], usage }];
}

function hasChoices({ choices }: EngineReply): boolean {
  return Array.isArray(choices) && choices.length > 0;
}

function isChunk(reply: EngineReply): boolean {
  const choice = choiceOf(reply);
  return choice?.['delta'] !== undefined && choice['message'] === undefined;
}

function choiceOf({ choices }: EngineReply): Fields | undefined {
  return Array.isArray(choices) ? (choices[0] as Fields | undefined) : undefined;
}
