/** What a request to an engine looks like, as far as the stand-in looks at it. */
export interface EngineRequest {
  model: string;
  stream: boolean;
  messages: readonly EngineMessage[];
  tools?: readonly unknown[];
  stream_options?: { include_usage?: boolean };
  thinking?: { type?: string };
  reasoning_effort?: string;
  enable_thinking?: boolean;
  chat_template_kwargs?: { enable_thinking?: boolean };
  [field: string]: unknown;
}

interface EngineMessage {
  role: string;
  content: string | readonly { type: string; text?: string; image_url?: { url: string } }[] | null;
  tool_calls?: readonly unknown[];
  reasoning_content?: string;
}

export interface EngineError {
  status: number;
  body: unknown;
}

/** A request that the engine does not take. */
export interface EngineRefusal extends EngineError {
  /** Whether it refuses this one. Where a source shows the words for another field, the field is of our own choosing. */
  refuses(request: EngineRequest): boolean;
  /** An entry that somebody may guess at, and by which people meet the refusal; the row's own entry unless told. */
  guessed?: Readonly<Record<string, unknown>>;
  /** How a person who has the guessed model meets it; `hello` unless told. */
  by?: 'tool';
  /** Met in whole answers only, which the bot never asks for. */
  onlyWhole?: true;
}

/** How one engine speaks, as its public documentation and its users tell. */
export interface EngineShape {
  engine: string;
  /** Where each of these facts was found. */
  sources: readonly string[];
  model: string;
  /** What stands in the models file beside the name. */
  entry: Readonly<Record<string, unknown>>;
  /** Whether the engine thinks about a request; undefined where it never shows a thought. */
  thinksAbout?(request: EngineRequest): boolean;
  /** Where the thought stands in an answer. */
  thoughtIn?: 'reasoning_content' | 'reasoning' | 'tags' | 'parts';
  /** After the call of a tool it goes on only with the thought before that call. */
  wantsThought?: true;
  /** Written before the first chunk: comments, or a chunk without choices. */
  opening?: readonly string[];
  /** More fields of each chunk's choice and of each chunk. */
  inChoice?: object;
  inChunk?: object;
  /** When a stream tells its usage; only if it is asked to unless told. */
  usage?: 'in the choice' | 'with every chunk' | 'with the last chunk';
  /** A call of a tool comes in one piece. */
  callsInOnePiece?: true;
  /** A stream that ends without `[DONE]`. */
  hasNoEndMark?: true;
  /** What it says where it gives up in the middle of an answer: a finish reason, or an event. */
  givesUp?: { reason: string } | { event: string };
  refusal?: EngineRefusal;
  /** An error that is about no field of ours. `passedOn` is the service's status for it, unless it follows from the engine's. */
  error: EngineError & { passedOn?: number };
}

const invalid = 'invalid_request_error';

/** An error object as OpenAI writes it. */
export function openAiError(message: string, more: object = {}): { error: object } {
  return { error: { message, type: invalid, param: null, code: null, ...more } };
}

/** For engines that think unless the template is told not to. */
export function thinksByTemplate({ chat_template_kwargs: kwargs }: EngineRequest): boolean {
  return kwargs?.enable_thinking !== false;
}

export function thinksByEffort({ reasoning_effort: effort }: EngineRequest): boolean {
  return effort !== undefined && effort !== 'none';
}
