/** What a model can do beyond plain text. */
export interface ModelAbilities {
  seesImages: boolean;
  /** Levels of `reasoning_effort` that it takes; none where it just thinks. */
  efforts: readonly string[];
}

const PLAIN: ModelAbilities = { seesImages: false, efforts: [] };

/** What the interface's description says of its models (SERVICE.md request-fields, images); it has no address that would tell. */
const KNOWN: Readonly<Record<string, ModelAbilities>> = {
  'svc-plus': { seesImages: true, efforts: [] },
  'svc-max': { seesImages: false, efforts: ['low', 'high', 'max'] },
};

/** Abilities of a model by its name. `thinking` itself is a field for every model. */
export function abilitiesOf(model: string): ModelAbilities {
  return Object.hasOwn(KNOWN, model) ? (KNOWN[model] ?? PLAIN) : PLAIN;
}
