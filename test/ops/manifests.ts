import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript-api';
import { parse, parseAllDocuments } from 'yaml';

/** A Kubernetes object. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  [field: string]: unknown;
}

export const BASE = 'ops/kubernetes/base';
const CHART = 'ops/helm/parley';

export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0] as Error;
    return (document.toJS() as Manifest | null) ?? [];
  });
}

/** The objects of the Kustomize base, without transformations: the base uses none. */
export function baseManifests(): Manifest[] {
  const { resources, ...rest } = parse(readFileSync(`${BASE}/kustomization.yaml`, 'utf8')) as { resources: string[] };
  const known = Object.keys(rest).filter((name) => name !== 'apiVersion' && name !== 'kind');
  if (known.length > 0) throw new Error(`This test does not know ${known.join(', ')} of Kustomize`);
  return resources.flatMap((name) => readManifests(readFileSync(`${BASE}/${name}`, 'utf8')));
}

export type Values = Record<string, unknown>;

export function chartValues(): Values {
  return parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Values;
}

/** The objects of the chart, rendered with the part of Helm's language that it uses. @throws Error for any other part */
export function renderChart(values: Values, release: string): Manifest[] {
  const templates = readdirSync(`${CHART}/templates`).map((name) =>
    readFileSync(`${CHART}/templates/${name}`, 'utf8').split('\n'),
  );
  const root = { Values: values, Release: { Name: release } };
  return templates.flatMap((lines) => readManifests(renderLines(lines, root).join('\n')));
}

function renderLines(lines: readonly string[], root: object, variables: Record<string, unknown> = {}): string[] {
  const rendered: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const block = /^\{\{- (if|range) (.+) \}\}$/.exec(line);
    if (!block) {
      rendered.push(line.replaceAll(/\{\{ (.+?) \}\}/g, (_, term: string) => valueOf(term, root, variables)));
      continue;
    }
    const end = lines.indexOf('{{- end }}', at);
    const inner = lines.slice(at + 1, end);
    if (end < 0 || inner.some((each) => each.startsWith('{{-'))) throw new Error(`Nested or open block: ${line}`);
    rendered.push(...renderBlock(block as unknown as [string, string, string], inner, root));
    at = end;
  }
  return rendered;
}

function renderBlock([, word, term]: [string, string, string], inner: readonly string[], root: object): string[] {
  if (word === 'if') {
    const isNegated = term.startsWith('not ');
    return Boolean(lookUp(isNegated ? term.slice(4) : term, root)) === isNegated ? [] : renderLines(inner, root);
  }
  const [, key = '', value = '', list = ''] = /^(\$\w+), (\$\w+) := (\S+)$/.exec(term) ?? [];
  return Object.entries(lookUp(list, root) as object).flatMap(([name, each]) =>
    renderLines(inner, root, { [key]: name, [value]: each as unknown }),
  );
}

function valueOf(term: string, root: object, variables: Record<string, unknown>): string {
  const [, path = '', quoted] = /^(\S+?)( \| quote)?$/.exec(term) ?? [];
  const found = path in variables ? variables[path] : lookUp(path, root);
  return quoted ? JSON.stringify(String(found)) : String(found);
}

function lookUp(path: string, root: object): unknown {
  let found: unknown = root;
  for (const name of path.split('.').slice(1)) {
    if (typeof found !== 'object' || found === null || !(name in found))
      throw new Error(`The chart has no value ${path}`);
    found = (found as Record<string, unknown>)[name];
  }
  if (!path.startsWith('.')) throw new Error(`This test does not know ${path} of Helm`);
  return found;
}

const MODULES: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'policy/v1': 'policy/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'networking.k8s.io/v1': 'networking/v1',
};

/** Errors of objects against the API's types: unknown fields, missing fields, values of another type. */
export function findTypeErrors(manifests: readonly Manifest[]): string[] {
  const lines = manifests.map((manifest, index) => {
    const module = MODULES[manifest.apiVersion];
    if (module === undefined) throw new Error(`Unknown API version ${manifest.apiVersion}`);
    const type = `import('kubernetes-types/${module}').${manifest.kind}`;
    return `export const object${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
  const file = resolve('test/ops/manifests-to-check.ts');
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: [], moduleResolution: 100, module: 99 };
  const host = ts.createCompilerHost(options);
  const source = ts.createSourceFile(file, lines.join('\n'), ts.ScriptTarget.ES2022);
  const own = {
    ...host,
    getCurrentDirectory: () => dirname(file),
    fileExists: (name: string) => name === file || host.fileExists(name),
    getSourceFile: (name: string, target: ts.ScriptTarget) =>
      name === file ? source : host.getSourceFile(name, target),
  };
  const program = ts.createProgram([file], options, own);
  return ts.getPreEmitDiagnostics(program).map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' '));
}
