import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import {
  baseManifests,
  BASE,
  chartValues,
  findTypeErrors,
  readManifests,
  renderChart,
  type Manifest,
} from './manifests.ts';

interface Container {
  name: string;
  envFrom: { configMapRef: { name: string } }[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  [probe: string]: unknown;
}

interface Deployment extends Manifest {
  spec: {
    replicas?: number;
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        terminationGracePeriodSeconds: number;
        automountServiceAccountToken: boolean;
        securityContext: object;
        containers: [Container];
        volumes: { name: string }[];
      };
    };
  };
}

const base = baseManifests();
const deployments = base.filter(({ kind }) => kind === 'Deployment') as Deployment[];
const dataOf = (manifests: readonly Manifest[]) =>
  manifests.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>;
const withSelector = (kind: string) =>
  base.filter((each) => each.kind === kind) as (Manifest & { spec: Record<string, Record<string, object>> })[];

describe('the Kustomize base', () => {
  test("has only objects that the API's types accept", () => {
    expect(findTypeErrors(base)).toEqual([]);
  });

  test.each([
    ['an unknown field', { replica: 2 }, /replica/],
    ['a value of another type', { replicas: 'two' }, /string.*number/],
    ['a missing field', { template: undefined }, /template/],
  ])('would be refused with %s', (_, change, fault) => {
    const [first] = deployments as [Deployment];
    expect(findTypeErrors([{ ...first, spec: { ...first.spec, ...change } }]).join()).toMatch(fault);
  });

  test('runs both roles, with names of settings that exist', () => {
    expect(deployments.map(({ spec }) => spec.template.spec.containers[0].env[0])).toEqual([
      { name: 'ROLES', value: 'receiver' },
      { name: 'ROLES', value: 'worker' },
    ]);
    const names = [
      ...Object.keys(dataOf(base)),
      ...deployments.flatMap(({ spec }) => spec.template.spec.containers[0].env.map(({ name }) => name)),
    ];
    const known: readonly string[] = SETTING_NAMES;
    expect(names.filter((name) => !known.includes(name.replace(/_FILE$/, '')) && !known.includes(name))).toEqual([]);
    const mounted = deployments[0]?.spec.template.spec.containers[0].volumeMounts.find(
      ({ name }) => name === 'secrets',
    );
    for (const [name, value] of Object.entries(dataOf(base)).filter(([each]) => each.endsWith('_FILE')))
      expect(value).toBe(`${mounted?.mountPath}/${name.replace(/_FILE$/, '')}`);
  });

  test.each(deployments.map((each): [string, Deployment] => [each.metadata.name, each]))(
    '%s is not root, cannot write outside its volumes, and has no token of the cluster',
    (_, { spec }) => {
      const { containers, ...pod } = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(containers[0].securityContext).toEqual({
        ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      });
      const writable = containers[0].volumeMounts.filter(({ readOnly }) => readOnly !== true);
      expect(writable.map(({ mountPath }) => mountPath)).toEqual(['/tmp', '/data']);
      expect(containers[0].volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
    },
  );

  test.each(deployments.map((each): [string, Deployment] => [each.metadata.name, each]))(
    '%s has probes on the port of METRICS_PORT, and more time to stop than SHUTDOWN_GRACE_SEC',
    (_, { spec }) => {
      const [container] = spec.template.spec.containers;
      const metrics = container.ports.find(({ name }) => name === 'metrics');
      expect(String(metrics?.containerPort)).toBe(dataOf(base)['METRICS_PORT']);
      const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name]);
      expect(paths).toEqual([
        expect.objectContaining({ httpGet: { path: '/healthz', port: 'metrics' } }),
        expect.objectContaining({ httpGet: { path: '/healthz', port: 'metrics' } }),
        expect.objectContaining({ httpGet: { path: '/readyz', port: 'metrics' } }),
      ]);
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
        Number(dataOf(base)['SHUTDOWN_GRACE_SEC']),
      );
    },
  );

  test('has a selector in every Deployment, budget, service and policy that matches pods of the base', () => {
    const pods = deployments.map(({ spec }) => spec.template.metadata.labels);
    const selectors = [
      ...deployments.map(({ spec }) => spec.selector.matchLabels),
      ...withSelector('PodDisruptionBudget').map(({ spec }) => spec['selector']?.['matchLabels']),
      ...withSelector('Service').map(({ spec }) => spec['selector']),
      ...withSelector('NetworkPolicy').map(({ spec }) => spec['podSelector']?.['matchLabels']),
    ];
    expect(selectors).toHaveLength(7);
    for (const selector of selectors) expect(pods).toContainEqual(expect.objectContaining(selector ?? { none: '' }));
  });

  test('scales the workers by a metric of the product', () => {
    const [scaler] = base.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    const source = readFileSync('src/bot/metrics/gauges.ts', 'utf8');
    const [, name = ''] = /"name":"parley_(\w+)"/.exec(JSON.stringify(scaler)) ?? [];
    expect(source).toContain(`'${name}'`);
    expect(scaler).toMatchObject({ spec: { scaleTargetRef: { name: 'parley-worker' }, minReplicas: 2 } });
    expect(deployments.map(({ spec }) => spec.replicas)).toEqual([2, undefined]);
  });
});

describe('the Helm chart', () => {
  test('renders the objects of the Kustomize base for a release named parley', () => {
    expect(sorted(renderChart(chartValues(), 'parley'))).toEqual(sorted(base));
  });

  test('without autoscaling has the number of workers and no autoscaler', () => {
    const values = chartValues();
    const worker = { ...(values['worker'] as object), replicas: 4, autoscaling: { enabled: false } };
    const objects = renderChart({ ...values, worker }, 'bot');
    expect(findTypeErrors(objects)).toEqual([]);
    expect(objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')).toEqual([]);
    expect(objects.find(({ metadata }) => metadata.name === 'bot-worker')).toMatchObject({ spec: { replicas: 4 } });
  });

  test('of a release with another name shares no name and no selector with the first', () => {
    const named = (release: string) =>
      renderChart(chartValues(), release).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(named('one').filter((name) => named('two').includes(name))).toEqual([]);
    expect(JSON.stringify(renderChart(chartValues(), 'one'))).not.toContain('"app.kubernetes.io/name":"parley"');
  });

  test('has the version of the product', () => {
    const chart = parse(readFileSync('ops/helm/parley/Chart.yaml', 'utf8')) as { version: string; appVersion: string };
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });
});

const kubectl = hasKubectl() ? test : test.skip;
kubectl('kubectl kustomize builds the base (skipped without kubectl)', () => {
  const built = execFileSync('kubectl', ['kustomize', BASE], { encoding: 'utf8' });
  expect(sorted(readManifests(built))).toEqual(sorted(base));
});

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function sorted(manifests: readonly Manifest[]): Manifest[] {
  const key = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;
  return manifests.toSorted((left, right) => key(left).localeCompare(key(right)));
}
