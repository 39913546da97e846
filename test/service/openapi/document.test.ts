import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { brokenRules } from './document-rules.ts';
import { asFields, lookUp, mappingsIn, operationsOf, readDocument, type Fields } from './openapi-document.ts';
import { shippedModels } from '../../support/shipped-models.ts';
import { SchemaJudge } from './schema-judge.ts';
import { routesOfService } from './service-routes.ts';

/** The models in the interface description; a deployment may serve others. */
const SPECIFIED = ['svc-plus', 'svc-max'];

const root = readDocument();
const schemas = new SchemaJudge(root);

describe('the OpenAPI document', () => {
  test('has valid references, unique ids, and examples that match their schemas', () => {
    expect(root['openapi']).toMatch(/^3\.1\.\d$/);
    expect(brokenRules(root, schemas)).toEqual([]);
  });

  test.each<[what: string, place: string, plant: (fields: Fields) => void]>([
    [
      'a reference without a target',
      '#/paths/~1logout/get/responses/200',
      (fields) => (fields['$ref'] = '#/components/no'),
    ],
    ['a repeated operationId', '#/paths/~1logout/get', (fields) => (fields['operationId'] = 'authorize')],
    [
      'an example that does not match',
      '#/components/schemas/Chunk/examples/0',
      (fields) => (fields['created'] = 'now'),
    ],
    ['an unknown schema keyword', '#/components/schemas/Usage', (fields) => (fields['requird'] = [])],
    ['a missing path parameter', '#/paths/~1sign-in~1{name}/get', (fields) => delete fields['parameters']],
    ['a missing security scheme', '#/components/securitySchemes', (fields) => delete fields['session']],
    ['a text cut at its comma', '#/paths/~1logout/get', (fields) => (fields['by its end'] = null)],
    ['an unused component', '#/components/headers', (fields) => (fields['Unused'] = {})],
  ])('fails the check if it contains %s', (_, place, plant) => {
    const planted = readDocument();
    plant(asFields(lookUp(planted, place)));
    expect(rulesBrokenBy(planted)).not.toEqual([]);
  });

  test('has the version of the program and the models of its table', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(asFields(root['info'])['version']).toBe(version);
    expect(lookUp(root, '#/components/schemas/ModelName/enum')).toEqual(SPECIFIED);
  });

  test('describes the defaults of the models as in the table and in the written documentation', () => {
    const page = readFileSync('docs/reference/SERVICE.md', 'utf8');
    const { temperature, top_p: topP } = asFields(lookUp(root, '#/components/schemas/ChatRequest/properties'));
    for (const id of SPECIFIED) {
      const { seesImages, thinking, levels, defaults } = shippedModels().of(id);
      const can = [seesImages, thinking !== 'none', levels.length > 0].map((has) => (has ? 'yes' : 'no'));
      const row = [`\`${id}\``, ...can, defaults.temperature, defaults.topP].map((cell) => ` *${cell} *`);
      expect(page).toMatch(new RegExp(`^\\|${row.join('\\|')}\\|$`, 'm'));
      expect(asFields(temperature)['description']).toContain(`${defaults.temperature} for ${id}`);
      expect(asFields(topP)['description']).toContain(`${defaults.topP} for ${id}`);
    }
  });

  test('describes exactly the routes of the service', () => {
    const routes = routesOfService();
    const inDocument = operationsOf(root).map(({ path, method }) => `${method.toUpperCase()} ${nameless(path)}`);
    const byMethod = routes.filter((route) => !route.startsWith('ALL '));
    const forAll = routes.filter((route) => route.startsWith('ALL ')).map((route) => route.replace('ALL ', ''));
    expect(byMethod.filter((route) => !inDocument.includes(route))).toEqual([]);
    expect(forAll.filter((path) => !inDocument.some((route) => route.endsWith(` ${path}`)))).toEqual([]);
    expect(
      inDocument.filter((route) => !byMethod.includes(route) && !forAll.includes(route.replace(/^\w+ /, ''))),
    ).toEqual([]);
  });

  test('links to headings of the written documentation, which names all paths and error codes', () => {
    const page = readFileSync('docs/reference/SERVICE.md', 'utf8');
    const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
    const linked = [...mappingsIn(root)].flatMap(({ fields }) => {
      const { url } = asFields(fields['externalDocs']);
      return typeof url === 'string' ? [url] : [];
    });
    const within = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(new Set(anchors).size).toBe(anchors.length);
    const wanted = [...linked.map((url) => url.split('#')[1] ?? anchors[0]), ...within];
    expect(wanted.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([]);
    const named = [...namesToTell()].filter(
      (name) => !new RegExp(`[\`./[\\s]${escaped(name)}[\`./[\\]=?\\s]`).test(page),
    );
    expect(named).toEqual([]);
  });
});

const nameless = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The paths, and the types and codes of errors. */
function namesToTell(): Set<string> {
  const texts = (value: unknown) => (Array.isArray(value) ? value : []).filter((item) => typeof item === 'string');
  const errors = ['ChatError', 'TokenError'].flatMap((name) => [
    ...mappingsIn(lookUp(root, `#/components/schemas/${name}`)),
  ]);
  return new Set([
    ...Object.keys(asFields(root['paths'])),
    ...errors.flatMap(({ fields: found }) => texts(found['enum'])),
  ]);
}

/** An invalid schema may already cause an error when it is read. */
function rulesBrokenBy(document: Fields): string[] {
  try {
    return brokenRules(document, new SchemaJudge(document));
  } catch (error) {
    return [String(error)];
  }
}
