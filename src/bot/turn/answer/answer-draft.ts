import { localize } from '../../../shared/text/texts.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { ChatEvent } from '../../model/chat-types.ts';
import type { LiveReply } from '../../reply/live-reply.ts';
import type { CitedSource } from '../conversation/history.ts';
import { TokenCount } from './count-tokens.ts';
import { GrowingMask, type MaskRules } from '../moderation/mask-text.ts';
import type { NamedLinks } from './named-links.ts';
import type { Thought } from './reasoning.ts';
import type { TurnSources } from './turn-sources.ts';

/** How an answer ended. */
export type Ending = 'whole' | 'length' | 'truncated' | 'stopped';

/** An answer to which nothing is added any more. */
export interface EndedAnswer {
  text: string;
  ending: Ending;
  /** Notes for the user, shown separately from the text. */
  notes: readonly string[];
  /** All retrieved sources, the cited ones marked. */
  sources: readonly CitedSource[];
  /** The documents were searched, and the answer cites none of them. */
  isUnsourced?: boolean;
  /** Earlier messages do not belong to the conversation of this question. */
  startsAnew: boolean;
}

export interface AnswerDraftOptions {
  live: Pick<LiveReply, 'show'>;
  voice: Voice;
  thought: Thought;
  links: NamedLinks;
  masks: MaskRules | undefined;
  sources: Pick<TurnSources, 'all' | 'isUnsourced'>;
  /** Notes made before the model is called. */
  notes: readonly string[];
  startsAnew: boolean;
}

/** The answer to one question while it is generated. Every change is shown in the live reply at once. */
export class AnswerDraft {
  model: string | undefined;
  readonly tokenCount = new TokenCount();
  readonly #options: AnswerDraftOptions;
  readonly #notes: string[];
  #cutNotes: readonly string[] = [];
  readonly #mask: GrowingMask | undefined;
  #startsAnew: boolean;
  #ending: Ending = 'truncated';
  /** What `show` shows beside the text. */
  #doing: string | undefined;
  readonly #view: Parameters<LiveReply['show']>[0];

  constructor(options: AnswerDraftOptions) {
    this.#options = options;
    this.#notes = [...options.notes];
    this.#startsAnew = options.startsAnew;
    this.#mask = options.masks && new GrowingMask(options.masks);
    const { thought } = options;
    const textNow = () => this.text;
    const statusNow = () => thought.liveStatus(() => this.text === '', this.#notes, this.#doing);
    // Read when it is written, because rendering the text with every token costs more than receiving it.
    this.#view = {
      get text() {
        return textNow();
      },
      get status() {
        return statusNow();
      },
      get thinking() {
        return thought.liveThinking();
      },
    };
  }

  get startsAnew(): boolean {
    return this.#startsAnew;
  }

  /** The text so far, masked. */
  get text(): string {
    const { text } = this.#options.links;
    return this.#mask ? this.#mask.mask(text) : text;
  }

  get isEmpty(): boolean {
    return this.#options.links.text === '';
  }

  addEvent(event: ChatEvent): void {
    const { links, thought, voice } = this.#options;
    this.tokenCount.recordEvent(event);
    if (event.type === 'text') links.add(event.delta);
    else if (event.type === 'retract') links.retract();
    else if (event.type === 'reasoning') thought.add(event.delta);
    else if (event.type === 'fallback') {
      this.model = event.model;
      this.note(localize(TURN_TEXTS.fallbackAnswers, voice.language, { model: event.model }));
    } else if (event.type === 'end')
      this.#ending = event.reason === 'length' || event.reason === 'truncated' ? event.reason : 'whole';
    if (event.type === 'text' || event.type === 'reasoning') this.show();
  }

  /** @param doing the current activity, shown next to the text so far */
  show(doing?: string): void {
    this.#doing = doing;
    this.#options.live.show(this.#view);
  }

  /** Adds a note. Each round of a question with tools may produce the same note. */
  note(line: string): void {
    if (!this.#notes.includes(line)) this.#notes.push(line);
    this.#options.live.show({ text: this.text, status: this.#notes.join('\n') });
  }

  /** Replaces the notes on shortened files: a prompt rebuilt with a smaller budget contains less of them. */
  noteCuts(lines: readonly string[]): void {
    const stale = this.#cutNotes.filter((line) => !lines.includes(line));
    for (const line of stale) this.#notes.splice(this.#notes.indexOf(line), 1);
    this.#cutNotes = lines;
    for (const line of lines) this.note(line);
  }

  /** Earlier messages no longer belong to this conversation. A note tells the user. */
  startOver(why: 'conversationEnded' | 'otherScene' | 'startedAfresh'): void {
    this.#startsAnew = true;
    this.note(localizeForChat(TURN_TEXTS[why], this.#options.voice));
  }

  /** @param ending defaults to the end that the chat service reported */
  end(ending: Ending = this.#ending): EndedAnswer {
    const { links, sources } = this.#options;
    // Completing the text also records the sources cited at its end.
    const complete = links.completeText();
    const text = this.#mask ? this.#mask.mask(complete, true) : complete;
    const { all, isUnsourced } = sources;
    return { text, ending, notes: this.#notes, sources: all, isUnsourced, startsAnew: this.#startsAnew };
  }

  /** The reasoning in the finished reply. */
  finalView(): { thinking?: string } {
    return this.#options.thought.finalView();
  }
}
