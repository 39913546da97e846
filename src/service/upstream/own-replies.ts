import type { ChatRequest } from '../chat/chat-request.ts';
import { ToolCallAssembler, readToolCallDeltas } from '../../shared/models/call-pieces.ts';
import { readContent, readThought, THOUGHT_FIELDS_OF_REPLY } from '../../shared/models/content-parts.ts';
import { readFinishReason } from '../../shared/models/finish-reason.ts';
import { ReplyText, type Ending } from '../../shared/models/reply-text.ts';
import { isObject } from '../../shared/parse-json.ts';
import { StreamedText } from '../../shared/models/whole-text.ts';

/** The parts of an engine's response that we examine; everything else passes through unchanged. */
export interface EngineReply {
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
}

type Fields = Record<string, unknown>;

/** What the process has learned about the responses of each model's engine. */
export interface ThoughtMemory {
  /** Names of models whose answers began with reasoning without an opening mark. */
  thinksFirst: Set<string>;
}

/**
 * Converts the responses of one answer (the complete one, or its chunks in order) to this interface: our model name;
 * `reasoning_content`, from whichever field the engine uses, and only while thinking is on; complete tool calls without
 * repetitions, beside the finish reason; the usage in its place; a single non-empty `finish_reason`. Responses are changed
 * in place: they were parsed for this purpose, and every token passes through here.
 */
export class ReplyNormalizer {
  readonly #request: ChatRequest;
  readonly #memory: ThoughtMemory;
  readonly #choices = new Map<number, ChoiceNormalizer>();
  /** The first chunk, for the common fields; keeping later ones would retain their texts. */
  #first: EngineReply | undefined;

  constructor(request: ChatRequest, memory: ThoughtMemory) {
    this.#request = request;
    this.#memory = memory;
  }

  /** A finish reason was received: the answer is complete, even without a `[DONE]`. */
  get hasFinished(): boolean {
    return this.#choices.get(0)?.hasFinished ?? false;
  }

  /** Whether the answer has content, or ended for a reason that permits an empty answer. */
  get hasContent(): boolean {
    return [...this.#choices.values()].some((choice) => choice.hasContent);
  }

  normalize(reply: EngineReply): EngineReply {
    reply.model = this.#request.model.name;
    if (Array.isArray(reply.choices)) {
      for (const choice of reply.choices as unknown[])
        if (isObject(choice)) {
          this.#choiceOf(choice['index']).normalize(choice);
          liftUsage(reply, choice);
        }
    } else {
      reply.choices = [];
    }
    this.#first ??= reply;
    return reply;
  }

  /**
   * Text that was held back in a stream without a finish reason; undefined after one. Call it at the end.
   * @param ending `cut` if the engine broke off, and the answer must stay without a finish reason
   */
  rest(ending: 'whole' | 'cut'): EngineReply | undefined {
    const choice = this.#choices.get(0);
    if (!choice || choice.hasFinished) return undefined;
    const delta: Fields = {};
    const own: Fields = { index: 0, delta, finish_reason: ending === 'whole' ? 'stop' : 'error' };
    choice.normalize(own);
    if (ending === 'cut') {
      own['finish_reason'] = undefined;
      if (!Object.values(delta).some(Boolean)) return undefined;
    }
    return { ...this.#first, usage: undefined, choices: [own] };
  }

  #choiceOf(index: unknown): ChoiceNormalizer {
    const key = Number(index ?? 0);
    let choice = this.#choices.get(key);
    if (!choice) this.#choices.set(key, (choice = new ChoiceNormalizer(this.#request, this.#memory)));
    return choice;
  }
}

/** Finish reasons that permit an empty answer. */
const SILENT_ENDS: ReadonlySet<unknown> = new Set(['length', 'content_filter']);

/** Where a message is in its answer. */
interface PlaceInReply {
  ending: Ending;
  isSummary: boolean;
  mayRepeat: boolean;
  isAfterEnd: boolean;
}

/** One of the answers of a request; usually there is only one. */
class ChoiceNormalizer {
  readonly #isThinking: boolean;
  readonly #modelName: string;
  readonly #memory: ThoughtMemory;
  readonly #text: ReplyText;
  readonly #customTools: ReadonlySet<string>;
  readonly #whole = new StreamedText();
  readonly #calls = new ToolCallAssembler();
  #saysText = false;
  #hasThought = false;
  #hasMessage = false;
  hasFinished = false;
  hasContent = false;

  constructor({ model, thinking, tools, messages }: ChatRequest, memory: ThoughtMemory) {
    this.#modelName = model.name;
    this.#memory = memory;
    // Reasoning that the caller did not enable stays hidden; in other dialects it is shown as the engine sends it.
    this.#isThinking = thinking === 'enabled' || model.thinking !== 'thinking';
    this.#customTools = new Set(tools.filter(({ declaration }) => 'custom' in declaration).map(({ name }) => name));
    const isOffered = tools.length > 0 || messages.some(({ role }) => role === 'tool');
    this.#text = new ReplyText({
      offered: new Set(isOffered ? ['', ...tools.map(({ name }) => name)] : []),
      thoughtFirst: model.thoughtFirst || memory.thinksFirst.has(model.name),
    });
  }

  normalize(choice: Fields): void {
    const { finish_reason: reason, message, delta } = choice;
    // Only the last chunk may have a finish reason. Some engines send an empty one with each chunk, or repeat it beside the
    // usage.
    const finishes = typeof reason === 'string' && reason !== '' && !this.hasFinished;
    const isMessage = isObject(message) && (!isObject(delta) || Object.keys(delta).length === 0);
    const reply = isMessage ? message : isObject(delta) ? delta : undefined;
    const isAfterEnd = this.hasFinished;
    if (finishes) this.hasFinished = true;
    else if (reason !== undefined) choice['finish_reason'] = undefined;
    if (!reply && !finishes) return;
    const isWhole = isMessage && !this.#hasMessage;
    const isSummary = isMessage && this.#hasMessage;
    const ending = finishes ? endingOf(reason) : isWhole && !reason ? 'whole' : 'more';
    const own = reply ?? (choice['delta'] = {} as Fields);
    this.#takeMessage(own, { ending, isSummary, mayRepeat: isSummary || finishes || isAfterEnd, isAfterEnd });
    if (isSummary) {
      choice['delta'] = own;
      choice['message'] = undefined;
    }
    this.#hasMessage = true;
    if (ending === 'more') return;
    this.#giveCalls(choice, own, isWhole);
    this.hasContent ||= SILENT_ENDS.has(readFinishReason(String(reason)));
  }

  #takeMessage(message: Fields, place: PlaceInReply): void {
    const { isSummary, isAfterEnd } = place;
    const { content: written } = message;
    const parts = typeof written === 'object' && written !== null ? readContent(written) : undefined;
    if (parts) message['content'] = parts.text;
    const content = parts?.text ?? written;
    const thought = isSummary || isAfterEnd ? '' : readThought(message) || (parts?.thought ?? '');
    for (const field of THOUGHT_FIELDS_OF_REPLY) if (message[field] !== undefined) message[field] = undefined;
    const pieces = readToolCallDeltas(message, isSummary);
    if (message['tool_calls'] !== undefined) message['tool_calls'] = undefined;
    if (message['function_call'] !== undefined) message['function_call'] = undefined;
    if (isSummary) this.#calls.addSummary(pieces);
    else for (const piece of pieces) this.#calls.add(piece);
    if (thought !== '') this.#showThought(message, thought);
    this.#takeText(message, typeof content === 'string' ? content : '', place);
  }

  #takeText(message: Fields, content: string, { ending, isSummary, mayRepeat, isAfterEnd }: PlaceInReply): void {
    if (content === '' && ending === 'more') return;
    const fresh = mayRepeat ? this.#whole.lastPiece(content, isSummary, isAfterEnd) : content;
    if (!mayRepeat) this.#whole.add(content);
    if (ending === 'more' && this.#text.passes(fresh)) {
      this.#saysText = this.hasContent = true;
      if (fresh !== content) message['content'] = fresh;
      return;
    }
    const { thought, text, calls, retracts } = this.#text.part(fresh, ending);
    for (const call of calls) this.#calls.add({ index: undefined, callId: undefined, ...call });
    if (retracts) this.#memory.thinksFirst.add(this.#modelName);
    // Streamed text cannot be taken back: the mark tells our client that it was reasoning.
    const own = retracts && this.#saysText ? `</think>\n\n${text}` : text;
    if (own !== content) message['content'] = own === '' && calls.length > 0 ? null : own;
    if (thought !== '') this.#showThought(message, thought);
    if (own.trim() !== '') this.#saysText = this.hasContent = true;
  }

  #showThought(message: Fields, thought: string): void {
    if (!this.#hasThought) this.#text.namesThought();
    this.#hasThought = this.hasContent = true;
    if (this.#isThinking) message['reasoning_content'] = `${asText(message['reasoning_content'])}${thought}`;
  }

  /** Adds the complete calls beside the finish reason, in complete responses and in streams. */
  #giveCalls(choice: Fields, message: Fields, isWhole: boolean): void {
    const calls = this.#calls.list();
    if (calls.length === 0 || readFinishReason(String(choice['finish_reason'])) === 'truncated') return;
    const ids = new Set<string>();
    message['tool_calls'] = calls.map(({ callId, name, argumentsJson }, index) => {
      const id = callId === '' || ids.has(callId) ? `call_${index}` : callId;
      ids.add(id);
      const shared = { index: isWhole ? undefined : index, id };
      return this.#customTools.has(name)
        ? { ...shared, type: 'custom', custom: { name, input: argumentsJson } }
        : { ...shared, type: 'function', function: { name, arguments: argumentsJson } };
    });
    if (isWhole && message['content'] === '') message['content'] = null;
    if (choice['finish_reason'] === 'stop') choice['finish_reason'] = 'tool_calls';
    this.hasContent = true;
  }
}

function endingOf(reason: string): Ending {
  const end = readFinishReason(reason);
  return end === 'truncated' ? 'cut' : end === 'length' ? end : 'whole';
}

/** Some engines put the usage into the choice, beside its finish reason. */
function liftUsage(reply: EngineReply, choice: Fields): void {
  if (!isObject(choice['usage'])) return;
  reply.usage ??= choice['usage'];
  choice['usage'] = undefined;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
