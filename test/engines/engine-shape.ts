/** The parts of an engine request that the test engine reads. */
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

/** A request that the engine refuses. */
export interface EngineRefusal extends EngineError {
  /** Whether it refuses this request. The field is chosen here if a source shows the error for another field. */
  refuses(request: EngineRequest): boolean;
  /** A wrong entry that an operator might guess, and that causes the refusal. Defaults to the row's own entry. */
  guessed?: Readonly<Record<string, unknown>>;
  /** How a person triggers the refusal with the guessed model. Defaults to `hello`. */
  by?: 'tool';
  /** Occurs only in complete (not streamed) answers, which the bot never requests. */
  onlyWhole?: true;
}

/** The wire format of one engine, by its public documentation and its users. */
export interface EngineShape {
  engine: string;
  /** The source of each of these facts. */
  sources: readonly string[];
  model: string;
  /** The models file entry without the name. */
  entry: Readonly<Record<string, unknown>>;
  /** Whether the engine thinks for a request; undefined if it never shows a thought. */
  thinksAbout?(request: EngineRequest): boolean;
  /** Where the thought is in an answer. */
  thoughtIn?: 'reasoning_content' | 'reasoning' | 'tags' | 'parts';
  /** After a tool call it requires the thought before that call. */
  wantsThought?: true;
  /** Written before the first chunk: comments, or a chunk without choices. */
  opening?: readonly string[];
  /** More fields of each chunk's choice and of each chunk. */
  inChoice?: object;
  inChunk?: object;
  /** When a stream reports its usage. By default only on request. */
  usage?: 'in the choice' | 'with every chunk' | 'with the last chunk';
  /** A tool call comes in one part. */
  callsInOnePiece?: true;
  /** A stream that ends without `[DONE]`. */
  hasNoEndMark?: true;
  /** Sent when it stops in the middle of an answer: a finish reason, or an event. */
  givesUp?: { reason: string } | { event: string };
  refusal?: EngineRefusal;
  /**
   * An error that concerns no request field. `passedOn` is the service's status for it, if it does not follow from the
   * engine's.
   */
  error: EngineError & { passedOn?: number };
}

const invalid = 'invalid_request_error';

/** An error object in OpenAI's format. */
export function openAiError(message: string, more: object = {}): { error: object } {
  return { error: { message, type: invalid, param: null, code: null, ...more } };
}

/** For engines that think unless the template disables it. */
export function thinksByTemplate({ chat_template_kwargs: kwargs }: EngineRequest): boolean {
  return kwargs?.enable_thinking !== false;
}

export function thinksByEffort({ reasoning_effort: effort }: EngineRequest): boolean {
  return effort !== undefined && effort !== 'none';
}
