import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { asFields, isFields, type Fields } from './openapi-document.ts';

/** `open`: as in the document. `closed`: no fields beyond the documented ones, for answers of the service. */
export type Reading = 'open' | 'closed';

const SCHEMA_PLACE = '#/components/schemas/';

/** Validates values by the schemas of the document, as JSON Schema 2020-12 in strict mode. */
export class SchemaJudge {
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  readonly #compiled = { open: new Map<unknown, ValidateFunction>(), closed: new Map<unknown, ValidateFunction>() };

  constructor(root: Fields) {
    for (const [name, schema] of Object.entries(asFields(asFields(root['components'])['schemas']))) {
      for (const reading of ['open', 'closed'] as const)
        this.#ajv.addSchema(asFields(standing(schema, reading)), idOf(name, reading));
    }
  }

  /** Faults of a value, one line each; empty if it is valid. @throws Error if the schema itself is invalid */
  faults(schema: unknown, value: unknown, reading: Reading = 'open'): string[] {
    const known = this.#compiled[reading].get(schema);
    const fits = known ?? this.#ajv.compile(asFields(standing(schema, reading)));
    this.#compiled[reading].set(schema, fits);
    if (fits(value)) return [];
    return (fits.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    );
  }
}

const idOf = (name: string, reading: Reading) => `urn:${reading}:${name}`;

/** A standalone copy of the schema, with references to the schemas that were added by name. */
function standing(schema: unknown, reading: Reading): unknown {
  if (Array.isArray(schema)) return (schema as unknown[]).map((item) => standing(item, reading));
  if (!isFields(schema)) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, standing(inner, reading)]));
  const { $ref: pointer } = schema;
  if (typeof pointer === 'string') copy['$ref'] = idOf(pointer.replace(SCHEMA_PLACE, ''), reading);
  const isObject = schema['type'] === 'object' && isFields(schema['properties']);
  if (reading === 'closed' && isObject && !('additionalProperties' in schema)) copy['additionalProperties'] = false;
  return copy;
}
