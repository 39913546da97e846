import type { Models } from '../../policy/policy.ts';

/** The allowed models, the chosen one first. A choice that the policy no longer allows is ignored. */
export function chosenFirst(models: Models, chosen: string | undefined): Models {
  if (chosen === undefined || !models.includes(chosen)) return models;
  return [chosen, ...models.filter((name) => name !== chosen)];
}
