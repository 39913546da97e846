import type { Models } from '../../policy/policy.ts';

/** The models that may answer, the chosen one first; a choice that the policy no longer allows counts as none. */
export function chosenFirst(models: Models, chosen: string | undefined): Models {
  if (chosen === undefined || !models.includes(chosen)) return models;
  return [chosen, ...models.filter((name) => name !== chosen)];
}
