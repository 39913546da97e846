import type { ChatRequest } from '../chat/chat-request.ts';
import { CallPieces, readCallPieces } from '../../shared/models/call-pieces.ts';
import { readContent, readThought, THOUGHT_FIELDS_OF_REPLY } from '../../shared/models/content-parts.ts';
import { readFinishReason } from '../../shared/models/finish-reason.ts';
import { ReplyText, type Ending } from '../../shared/models/reply-text.ts';
import { WholeText } from '../../shared/models/whole-text.ts';

/** What an engine sends, as far as we look at it; everything else passes through untouched. */
export interface EngineReply {
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
}

type Fields = Record<string, unknown>;

/** What is known of how one model's engine answers, for as long as the process lives. */
export interface ThoughtMemory {
  /** Names of models whose answers began with a thought that had no opening mark. */
  thinksFirst: Set<string>;
}

/**
 * Turns one answer's replies (the whole one, or its chunks in order) into what this interface shows: our model's name;
 * `reasoning_content`, wherever the engine writes the thought, and only while thinking is on; calls of tools whole and once, beside the
 * finish reason; the usage in its place; one `finish_reason` that says something. Replies are changed in place: they were parsed for us, and each token comes through here.
 */
export class OwnReplies {
  readonly #request: ChatRequest;
  readonly #memory: ThoughtMemory;
  readonly #choices = new Map<number, OwnChoice>();
  /** What chunks have in common; later ones would keep their texts in memory. */
  #first: EngineReply | undefined;

  constructor(request: ChatRequest, memory: ThoughtMemory) {
    this.#request = request;
    this.#memory = memory;
  }

  /** A finish reason was seen: the answer is complete, also without a `[DONE]`. */
  get hasFinished(): boolean {
    return this.#choices.get(0)?.hasFinished ?? false;
  }

  /** Whether the answer has said anything, or was ended for a reason for which it may say nothing. */
  get hasSpoken(): boolean {
    return [...this.#choices.values()].some((choice) => choice.hasSpoken);
  }

  take(reply: EngineReply): EngineReply {
    reply.model = this.#request.model.name;
    if (Array.isArray(reply.choices)) {
      for (const choice of reply.choices as unknown[])
        if (isFields(choice)) {
          this.#choiceOf(choice['index']).take(choice);
          liftUsage(reply, choice);
        }
    } else {
      reply.choices = [];
    }
    this.#first ??= reply;
    return reply;
  }

  /** What is held back of a stream that ended without a finish reason; undefined where there is nothing. */
  rest(): EngineReply | undefined {
    const choice = this.#choices.get(0);
    if (!choice || choice.hasFinished) return undefined;
    const own: Fields = { index: 0, delta: {}, finish_reason: 'stop' };
    choice.take(own);
    return { ...this.#first, usage: undefined, choices: [own] };
  }

  #choiceOf(index: unknown): OwnChoice {
    const key = Number(index ?? 0);
    let choice = this.#choices.get(key);
    if (!choice) this.#choices.set(key, (choice = new OwnChoice(this.#request, this.#memory)));
    return choice;
  }
}

/** An answer without a word may end for one of these. */
const SILENT_ENDS: ReadonlySet<unknown> = new Set(['length', 'content_filter']);

/** One of the answers of a request; mostly there is one. */
class OwnChoice {
  readonly #isThinking: boolean;
  readonly #modelName: string;
  readonly #memory: ThoughtMemory;
  readonly #text: ReplyText;
  readonly #whole = new WholeText();
  readonly #calls = new CallPieces();
  #saysText = false;
  #hasThought = false;
  #hasMessage = false;
  hasFinished = false;
  hasSpoken = false;

  constructor({ model, thinking, tools, messages }: ChatRequest, memory: ThoughtMemory) {
    this.#modelName = model.name;
    this.#memory = memory;
    // What the caller did not switch on stays hidden; other dialects' thoughts are shown as their engine sends them.
    this.#isThinking = thinking === 'enabled' || model.thinking !== 'thinking';
    const isOffered = tools.length > 0 || messages.some(({ role }) => role === 'tool');
    this.#text = new ReplyText({
      offered: new Set(isOffered ? ['', ...tools.map(({ name }) => name)] : []),
      thoughtFirst: model.thoughtFirst || memory.thinksFirst.has(model.name),
    });
  }

  take(choice: Fields): void {
    const { finish_reason: reason, message, delta } = choice;
    // Spec 2.5: only the last chunk has one. Some engines send an empty one with each, or repeat it beside the usage.
    const finishes = typeof reason === 'string' && reason !== '' && !this.hasFinished;
    const isMessage = isFields(message) && (!isFields(delta) || Object.keys(delta).length === 0);
    const reply = isMessage ? message : isFields(delta) ? delta : undefined;
    const isAfterEnd = this.hasFinished;
    if (finishes) this.hasFinished = true;
    else if (reason !== undefined) choice['finish_reason'] = undefined;
    if (!reply && !finishes) return;
    const isWhole = isMessage && !this.#hasMessage;
    const isSummary = isMessage && this.#hasMessage;
    const ending = finishes ? endingOf(reason) : isWhole && reason === undefined ? 'whole' : 'more';
    const own = reply ?? (choice['delta'] = {} as Fields);
    this.#takeMessage(own, { ending, isSummary, mayRepeat: isSummary || finishes || isAfterEnd, isAfterEnd });
    if (isSummary) {
      choice['delta'] = own;
      choice['message'] = undefined;
    }
    this.#hasMessage = true;
    if (ending === 'more') return;
    this.#giveCalls(choice, own, isWhole);
    this.hasSpoken ||= SILENT_ENDS.has(readFinishReason(String(reason)));
  }

  #takeMessage(
    message: Fields,
    {
      ending,
      isSummary,
      mayRepeat,
      isAfterEnd,
    }: { ending: Ending; isSummary: boolean; mayRepeat: boolean; isAfterEnd: boolean },
  ): void {
    const { content: written } = message;
    const parts = typeof written === 'object' && written !== null ? readContent(written) : undefined;
    if (parts) message['content'] = parts.text;
    const content = parts?.text ?? written;
    const thought = isSummary || isAfterEnd ? '' : readThought(message) || (parts?.thought ?? '');
    for (const field of THOUGHT_FIELDS_OF_REPLY) if (message[field] !== undefined) message[field] = undefined;
    const pieces = readCallPieces(message, isSummary);
    if (message['tool_calls'] !== undefined) message['tool_calls'] = undefined;
    if (message['function_call'] !== undefined) message['function_call'] = undefined;
    if (isSummary) this.#calls.addSummary(pieces);
    else for (const piece of pieces) this.#calls.add(piece);
    if (thought !== '') this.#showThought(message, thought);
    this.#takeText(message, typeof content === 'string' ? content : '', { ending, isSummary, mayRepeat, isAfterEnd });
  }

  #takeText(
    message: Fields,
    content: string,
    {
      ending,
      isSummary,
      mayRepeat,
      isAfterEnd,
    }: { ending: Ending; isSummary: boolean; mayRepeat: boolean; isAfterEnd: boolean },
  ): void {
    if (content === '' && ending === 'more') return;
    const fresh = mayRepeat ? this.#whole.lastPiece(content, isSummary, isAfterEnd) : content;
    if (!mayRepeat) this.#whole.add(content);
    if (ending === 'more' && this.#text.passes(fresh)) {
      this.#saysText = this.hasSpoken = true;
      if (fresh !== content) message['content'] = fresh;
      return;
    }
    const { thought, text, calls, retracts } = this.#text.part(fresh, ending);
    for (const call of calls) this.#calls.add({ index: undefined, callId: undefined, ...call });
    if (retracts) this.#memory.thinksFirst.add(this.#modelName);
    // What was streamed cannot be taken back: the mark tells a reader of ours what it was.
    const own = retracts && this.#saysText ? `</think>\n\n${text}` : text;
    if (own !== content) message['content'] = own === '' && calls.length > 0 ? null : own;
    if (thought !== '') this.#showThought(message, thought);
    if (own.trim() !== '') this.#saysText = this.hasSpoken = true;
  }

  #showThought(message: Fields, thought: string): void {
    if (!this.#hasThought) this.#text.namesThought();
    this.#hasThought = this.hasSpoken = true;
    if (this.#isThinking) message['reasoning_content'] = `${asText(message['reasoning_content'])}${thought}`;
  }

  /** The calls come whole with the finish reason, in a whole reply as in a stream. */
  #giveCalls(choice: Fields, message: Fields, isWhole: boolean): void {
    const calls = this.#calls.list();
    if (calls.length === 0 || readFinishReason(String(choice['finish_reason'])) === 'truncated') return;
    const ids = new Set<string>();
    message['tool_calls'] = calls.map(({ callId, name, argumentsJson }, index) => {
      const id = callId === '' || ids.has(callId) ? `call_${index}` : callId;
      ids.add(id);
      return { index: isWhole ? undefined : index, id, type: 'function', function: { name, arguments: argumentsJson } };
    });
    if (isWhole && message['content'] === '') message['content'] = null;
    if (choice['finish_reason'] === 'stop') choice['finish_reason'] = 'tool_calls';
    this.hasSpoken = true;
  }
}

function endingOf(reason: string): Ending {
  const end = readFinishReason(reason);
  return end === 'truncated' ? 'cut' : end === 'length' ? end : 'whole';
}

/** Some engines write the usage into the choice, beside its finish reason. */
function liftUsage(reply: EngineReply, choice: Fields): void {
  if (!isFields(choice['usage'])) return;
  reply.usage ??= choice['usage'];
  choice['usage'] = undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
