import { asFields, isFields, lookUp, mappingsIn, operationsOf, resolve, type Fields } from './openapi-document.ts';
import type { SchemaJudge } from './schema-judge.ts';

/** Violations of the OpenAPI 3.1 rules that tools rely on, one line each. */
export function brokenRules(root: Fields, schemas: SchemaJudge): string[] {
  return [
    ...oddNames(root),
    ...faultyReferences(root),
    ...unusedComponents(root),
    ...faultyOperations(root),
    ...faultyPathParameters(root),
    ...faultyExamples(root, schemas),
  ];
}

/** Finds keys that contain spaces: YAML reads an unquoted text as ending at its comma, and the rest as a new key. */
function oddNames(root: Fields): string[] {
  return [...mappingsIn(root)].flatMap(({ place, fields }) =>
    Object.keys(fields)
      .filter((name) => !/^[\w$/{}.+-]+$/.test(name))
      .map((name) => `${place}: "${name}" is no name`),
  );
}

function faultyReferences(root: Fields): string[] {
  return referencesIn(root)
    .filter(({ pointer }) => !pointer.startsWith('#/') || lookUp(root, pointer) === undefined)
    .map(({ place, pointer }) => `${place}: ${pointer} leads nowhere`);
}

function referencesIn(root: Fields): { place: string; pointer: string }[] {
  return [...mappingsIn(root)].flatMap(({ place, fields: { $ref: pointer } }) =>
    typeof pointer === 'string' ? [{ place, pointer }] : [],
  );
}

function unusedComponents(root: Fields): string[] {
  const used = new Set(referencesIn(root).map(({ pointer }) => pointer));
  const isDirect = (kind: string) => kind === 'securitySchemes';
  return Object.entries(asFields(root['components']))
    .filter(([kind]) => !isDirect(kind))
    .flatMap(([kind, all]) => Object.keys(asFields(all)).map((name) => `#/components/${kind}/${name}`))
    .filter((pointer) => !used.has(pointer))
    .map((pointer) => `${pointer} is used nowhere`);
}

function faultyOperations(root: Fields): string[] {
  const ids = operationsOf(root).map(({ operation }) => operation.operationId);
  const tags = (root['tags'] as { name: string }[]).map(({ name }) => name);
  const schemes = Object.keys(asFields(asFields(root['components'])['securitySchemes']));
  return operationsOf(root).flatMap(({ path, method, operation }) => {
    const own = (operation['tags'] ?? []) as string[];
    const security = ((operation['security'] ?? []) as Fields[]).flatMap((needed) => Object.keys(needed));
    const undescribed = Object.entries(operation.responses).filter(
      ([status, response]) => !/^[1-5]\d\d$/.test(status) || !resolve(root, response)['description'],
    );
    return [
      ...(ids.filter((id) => id === operation.operationId).length === 1 ? [] : ['its operationId is not its own']),
      ...own.filter((tag) => !tags.includes(tag)).map((tag) => `the tag ${tag} is not declared`),
      ...security.filter((name) => !schemes.includes(name)).map((name) => `the scheme ${name} is not declared`),
      ...undescribed.map(([status]) => `its answer ${status} is no status or has no description`),
      ...(operation['summary'] === undefined ? ['it has no summary'] : []),
    ].map((fault) => `${method} ${path}: ${fault}`);
  });
}

/** Checks that the `{name}` parts of a path match its path parameters, which must all be required. */
function faultyPathParameters(root: Fields): string[] {
  return operationsOf(root).flatMap(({ path, method, operation }) => {
    const inTemplate = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
    const parameters = ((operation['parameters'] ?? []) as unknown[]).map((parameter) => resolve(root, parameter));
    const declared = parameters.filter((parameter) => parameter['in'] === 'path' && parameter['required'] === true);
    const names = declared.map((parameter) => String(parameter['name']));
    return names.sort().join() === inTemplate.sort().join() ? [] : [`${method} ${path}: its path parameters differ`];
  });
}

/** Checks that every example matches its schema, and that every schema is valid and uses only JSON Schema keywords. */
function faultyExamples(root: Fields, schemas: SchemaJudge): string[] {
  return [...mappingsIn(root)].flatMap(({ place, fields }) => {
    const judge = (schema: unknown, value: unknown) =>
      schemas.faults(schema, value).map((fault) => `${place}: an example does not fit: ${fault}`);
    try {
      if (isFields(fields['schema'])) {
        schemas.faults(fields['schema'], null);
        const named = Object.values(asFields(fields['examples'])).map((example) => asFields(example)['value']);
        const all = 'example' in fields ? [fields['example'], ...named] : named;
        return all.flatMap((value) => judge(fields['schema'], value));
      }
      return Array.isArray(fields['examples'])
        ? (fields['examples'] as unknown[]).flatMap((value) => judge(fields, value))
        : [];
    } catch (error) {
      return [`${place}: ${String(error)}`];
    }
  });
}
