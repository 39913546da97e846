import type { ModelPrice } from './model-entry.ts';

/** Millionths of a unit of currency. */
export const MICROS = 1_000_000;

/** What tokens cost. Millionths of the currency, so that counters add whole numbers. */
export interface Cost {
  micros: number;
  currency: string;
}

/** Prices are per million tokens, so that tokens times price are millionths. @returns undefined without a price */
export function costOf(
  { prompt, completion }: { prompt: number; completion: number },
  price: ModelPrice | undefined,
): Cost | undefined {
  if (!price) return undefined;
  return { micros: Math.round(prompt * price.prompt + completion * price.completion), currency: price.currency };
}
