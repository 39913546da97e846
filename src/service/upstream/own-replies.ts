import type { ChatRequest } from '../chat/chat-request.ts';
import { readContent } from '../../models/content-parts.ts';
import { ThoughtTags } from '../../models/thought-tags.ts';

/** What an engine sends, as far as we look at it; everything else passes through untouched. */
export interface EngineReply {
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
}

type Fields = Record<string, unknown>;

/**
 * Turns one answer's replies (the whole one, or its chunks in order) into what this interface shows: our model's name;
 * `reasoning_content`, also where the engine calls it `reasoning`, writes it between tags or as a part of a list, and only while
 * thinking is on; the usage in its place; one `finish_reason` that says something. Replies are changed in place: they were parsed for us, and each token comes through here.
 */
export class OwnReplies {
  readonly #modelName: string;
  readonly #isThinking: boolean;
  #tags: ThoughtTags | undefined = new ThoughtTags();
  #hasFinished = false;

  constructor({ model, thinking }: ChatRequest) {
    this.#modelName = model.name;
    // What the caller did not switch on stays hidden; other dialects' thoughts are shown as their engine sends them.
    this.#isThinking = thinking === 'enabled' || model.thinking !== 'thinking';
  }

  /** A finish reason was seen: the answer is complete, also without a `[DONE]`. */
  get hasFinished(): boolean {
    return this.#hasFinished;
  }

  take(reply: EngineReply): EngineReply {
    reply.model = this.#modelName;
    if (Array.isArray(reply.choices)) {
      for (const choice of reply.choices as unknown[])
        if (isFields(choice)) {
          this.#takeChoice(choice);
          liftUsage(reply, choice);
        }
    } else {
      reply.choices = [];
    }
    return reply;
  }

  #takeChoice(choice: Fields): void {
    const { finish_reason: reason, message } = choice;
    // Spec 2.5: only the last chunk has one. Some engines send an empty one with each, or repeat it beside the usage.
    const finishes = typeof reason === 'string' && reason !== '' && !this.#hasFinished;
    if (finishes) this.#hasFinished = true;
    else if (reason !== undefined) choice['finish_reason'] = undefined;
    if (isFields(choice['delta'])) this.#takeMessage(choice['delta'], finishes);
    if (isFields(message)) this.#takeMessage(message, true);
  }

  #takeMessage(message: Fields, isLast: boolean): void {
    const { reasoning, reasoning_content: named, content: written } = message;
    const parts = Array.isArray(written) ? readContent(written) : undefined;
    if (parts) message['content'] = parts.text;
    const content = parts?.text ?? written;
    if (reasoning !== undefined) message['reasoning'] = undefined;
    if (named !== undefined) message['reasoning_content'] = undefined;
    const given = [named, reasoning, parts?.thought].find((thought) => typeof thought === 'string' && thought !== '');
    // An engine that names its thought writes no tags of its own.
    if (typeof given === 'string') this.#showThought(message, given);
    else if (this.#tags) this.#partTags(message, typeof content === 'string' ? content : '', isLast);
  }

  #partTags(message: Fields, content: string, isLast: boolean): void {
    const tags = this.#tags;
    if (!tags || (content === '' && !isLast)) return;
    const { thought, text } = tags.part(content, isLast);
    if (text !== content) message['content'] = text;
    if (thought !== '' && this.#isThinking) message['reasoning_content'] = thought;
    if (tags.isOver) this.#tags = undefined;
  }

  #showThought(message: Fields, thought: string): void {
    this.#tags = undefined;
    if (this.#isThinking) message['reasoning_content'] = thought;
  }
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
