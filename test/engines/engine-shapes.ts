import type { EngineShape } from './engine-shape.ts';
import { HOSTED_ENGINES } from './hosted-engines.ts';
import { OWN_ENGINES } from './own-engines.ts';

/** Real engines, one row each. */
export const ENGINES: readonly EngineShape[] = [...HOSTED_ENGINES, ...OWN_ENGINES];

/** The name of the row's model with the guessed entry. */
export const guessedName = (row: EngineShape): string => `guess-${ENGINES.indexOf(row)}`;

/** The models file with an entry for each row, and one for each guess. */
export function modelsFileOf(engines: readonly EngineShape[]): object[] {
  return engines.flatMap((row) => {
    const { model, entry, refusal } = row;
    const guessed = refusal?.guessed;
    const own = { name: model, ...entry };
    return guessed ? [own, { name: guessedName(row), upstream: model, ...guessed }] : [own];
  });
}
