import { HOUR_MS, type NowMs } from '../../../shared/clock.ts';

/** Prompts below it tell little: what a service adds to each of them weighs too much. */
const LEAST_TOKENS_TO_LEARN_FROM = 200;
/** How much one answer moves the factor; a dozen answers make up for a wrong beginning. */
const WEIGHT = 0.2;
const LEAST_FACTOR = 0.5;
const MOST_FACTOR = 3;
/** A service that refused a prompt is offered so much of its size from then on, until the ceiling is forgotten. */
const CEILING_SHARE = 0.75;
const CEILING_LIFE_MS = HOUR_MS;
const LEAST_CEILING_TOKENS = 1_000;
/** Names come from the settings, so there are few; a bound all the same. */
const MOST_MODELS = 100;

interface Learnt {
  factor: number;
  /** Estimated tokens, before the factor, that were too many for the service. */
  ceiling?: { tokens: number; untilMs: number };
}

/**
 * What this process learns about the size of prompts, per model: how far the estimate is from what the service counts
 * (`usage.prompt_tokens`), and how much it refused as too long. Bounded, and forgotten with the process. A tokenizer of
 * our own would have to be the model's, and which model answers behind the service's names is not known here.
 */
export class PromptSizes {
  readonly #nowMs: NowMs;
  readonly #learnt = new Map<string, Learnt>();

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs;
  }

  /** Corrects estimates for a model; see `estimateTokens`. From 0.5 to 3; 1 until something was learnt. */
  factorOf(model: string): number {
    return this.#learnt.get(model)?.factor ?? 1;
  }

  /** How many (corrected) tokens a prompt may take: at most `mostTokens`, less for a while after a refusal. */
  budgetOf(model: string, mostTokens: number): number {
    const { ceiling, factor = 1 } = this.#learnt.get(model) ?? {};
    if (!ceiling || ceiling.untilMs <= this.#nowMs()) return mostTokens;
    return Math.min(mostTokens, ceiling.tokens * factor);
  }

  /** Learns from an answer. @param estimatedTokens our estimate of its prompt with factor 1 @param countedTokens the service's count */
  answered(model: string, estimatedTokens: number, countedTokens: number): void {
    if (estimatedTokens < LEAST_TOKENS_TO_LEARN_FROM || !(countedTokens > 0)) return;
    const seen = Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, countedTokens / estimatedTokens));
    const learnt = this.#of(model);
    learnt.factor += (seen - learnt.factor) * WEIGHT;
  }

  /** Notes that the service refused a prompt as too long. @param estimatedTokens our estimate of it with factor 1 */
  refused(model: string, estimatedTokens: number): void {
    const tokens = Math.max(LEAST_CEILING_TOKENS, estimatedTokens * CEILING_SHARE);
    this.#of(model).ceiling = { tokens, untilMs: this.#nowMs() + CEILING_LIFE_MS };
  }

  #of(model: string): Learnt {
    let learnt = this.#learnt.get(model);
    if (!learnt) {
      if (this.#learnt.size >= MOST_MODELS) this.#learnt.clear();
      learnt = { factor: 1 };
      this.#learnt.set(model, learnt);
    }
    return learnt;
  }
}
