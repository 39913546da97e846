import { HOUR_MS, type NowMs } from '../../../shared/clock.ts';

/** Smaller prompts are ignored, because the tokens that a service adds to each prompt would dominate. */
const MIN_TOKENS_TO_LEARN_FROM = 200;
/** Weight of one answer in the factor; a dozen answers correct a wrong initial value. */
const WEIGHT = 0.2;
const MIN_FACTOR = 0.5;
const MAX_FACTOR = 3;
/** After a refusal, prompts are limited to this share of the refused size until the ceiling expires. */
const CEILING_SHARE = 0.75;
const CEILING_LIFE_MS = HOUR_MS;
const MIN_CEILING_TOKENS = 1_000;
/** Upper bound on the number of models; names come from the settings, so there are few. */
const MAX_MODELS = 100;

interface Learnt {
  factor: number;
  /** Maximum estimated tokens, before the factor, derived from a refused prompt. */
  ceiling?: { tokens: number; untilMs: number };
}

/**
 * Prompt sizes that this process learns per model: the ratio of the service's count (`usage.prompt_tokens`) to the estimate,
 * and the size that the service refused as too long. Bounded, and lost with the process. A local tokenizer would have to
 * match the model, and the actual model behind a name of the service is unknown.
 */
export class PromptSizes {
  readonly #nowMs: NowMs;
  readonly #learnt = new Map<string, Learnt>();

  constructor(nowMs: NowMs) {
    this.#nowMs = nowMs;
  }

  /**
   * Correction factor for estimates of a model; see `estimateTokens`. From 0.5 to 3. Defaults to 1 until usage is reported.
   */
  factorOf(model: string): number {
    return this.#learnt.get(model)?.factor ?? 1;
  }

  /** Maximum (corrected) tokens of a prompt: `maxTokens`, or less for a while after a refusal. */
  budgetOf(model: string, maxTokens: number): number {
    const { ceiling, factor = 1 } = this.#learnt.get(model) ?? {};
    if (!ceiling || ceiling.untilMs <= this.#nowMs()) return maxTokens;
    return Math.min(maxTokens, ceiling.tokens * factor);
  }

  /**
   * Learns from an answer. @param estimatedTokens estimate of its prompt with factor 1 @param countedTokens the service's
   * count
   */
  recordUsage(model: string, estimatedTokens: number, countedTokens: number): void {
    const ratio = countedTokens / estimatedTokens;
    if (estimatedTokens < MIN_TOKENS_TO_LEARN_FROM || !(ratio > 0)) return;
    const seen = Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, ratio));
    const learnt = this.#of(model);
    learnt.factor += (seen - learnt.factor) * WEIGHT;
  }

  /** Records that the service refused a prompt as too long. @param estimatedTokens estimate of the prompt with factor 1 */
  recordRefusal(model: string, estimatedTokens: number): void {
    const tokens = Math.max(MIN_CEILING_TOKENS, estimatedTokens * CEILING_SHARE);
    this.#of(model).ceiling = { tokens, untilMs: this.#nowMs() + CEILING_LIFE_MS };
  }

  #of(model: string): Learnt {
    let learnt = this.#learnt.get(model);
    if (!learnt) {
      if (this.#learnt.size >= MAX_MODELS) this.#learnt.clear();
      learnt = { factor: 1 };
      this.#learnt.set(model, learnt);
    }
    return learnt;
  }
}
