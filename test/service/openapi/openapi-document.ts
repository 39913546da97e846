import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Any mapping of the document. */
export type Fields = Record<string, unknown>;

export interface Operation extends Fields {
  operationId: string;
  responses: Fields;
}

/** One operation of the document, with its path and method. */
export interface PlacedOperation {
  path: string;
  method: string;
  operation: Operation;
}

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asFields = (value: unknown): Fields => (isFields(value) ? value : {});

export function readDocument(): Fields {
  return parse(readFileSync('docs/openapi.yaml', 'utf8'), { maxAliasCount: -1 }) as Fields;
}

/** The target of a JSON pointer in the same document, such as `#/components/schemas/Reply`. */
export function lookUp(root: Fields, pointer: string): unknown {
  return pointer
    .replace(/^#\//, '')
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (found, step) => (Array.isArray(found) ? (found as unknown[])[Number(step)] : asFields(found)[step]),
      root,
    );
}

/** The target of a reference, or the value itself. */
export function resolve(root: Fields, value: unknown): Fields {
  const { $ref: pointer } = asFields(value);
  return typeof pointer === 'string' ? resolve(root, lookUp(root, pointer)) : asFields(value);
}

export function operationsOf(root: Fields): PlacedOperation[] {
  return Object.entries(asFields(root['paths'])).flatMap(([path, item]) =>
    Object.entries(asFields(item)).flatMap(([method, operation]) =>
      METHODS.includes(method) ? [{ path, method, operation: operation as Operation }] : [],
    ),
  );
}

/** Each mapping of the document with its place, the deepest last. Examples are skipped. */
export function* mappingsIn(value: unknown, place = '#'): Generator<{ place: string; fields: Fields }> {
  if (Array.isArray(value)) {
    for (const [index, item] of (value as unknown[]).entries()) yield* mappingsIn(item, `${place}/${index}`);
  } else if (isFields(value)) {
    yield { place, fields: value };
    for (const [name, inner] of Object.entries(value)) {
      if (!/^examples?$/.test(name)) yield* mappingsIn(inner, `${place}/${name.replaceAll('/', '~1')}`);
    }
  }
}
