import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { Registry } from 'prom-client';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { createReport } from '../../src/bot/metrics/metrics.ts';
import { recordingLog } from '../support/redis.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { alertRules, dashboard, referencesOf, shippedQueries } from './queries.ts';

/** Added by Prometheus, and by histograms. */
const LABELS_OF_PROMETHEUS = ['instance', 'le'];
const COMPUTED = /_(?:bucket|count|sum)$/;
const queries = shippedQueries();
const deployment = useSlackDeployment();

/** Label names by metric, as the product registers them. */
function registeredLabels(): Map<string, readonly string[]> {
  const registry = new Registry();
  createReport(registry, recordingLog().log);
  const all = registry.getMetricsAsArray() as unknown as { name: string; labelNames?: string[] }[];
  return new Map(all.map(({ name, labelNames = [] }) => [name, labelNames]));
}

describe('/metrics of a process with all roles', () => {
  let served: Set<string>;
  beforeEach(async () => {
    const ports = { PORT: String(await freePort()), SERVICE_PORT: String(await freePort()) };
    const env = { ...ports, ROLES: 'receiver,worker,service', DATA_DIR: mkdtempSync(join(tmpdir(), 'parley-ops-')) };
    const bot = await deployment.startBot({ ...env, SERVICE_API_KEYS: 'sk-ops' });
    const text = await got(`http://127.0.0.1:${env.PORT}/metrics`).text();
    await bot.close();
    served = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  }, 60_000);

  test('contains every metric of the dashboard and the alerts', () => {
    const unknown = queries.flatMap(({ from, expression }) =>
      referencesOf(expression)
        .metrics.filter((name) => !served.has(name) && !served.has(name.replace(COMPUTED, '')))
        .map((name) => `${from}: ${name}`),
    );
    expect(unknown).toEqual([]);
    expect(queries.length).toBeGreaterThan(60);
  });
});

test('every label of a query belongs to one of its metrics', () => {
  const known = registeredLabels();
  const unknown = queries.flatMap(({ from, expression }) => {
    const { metrics, labels } = referencesOf(expression);
    const ofMetrics = metrics.flatMap((name) => known.get(name) ?? known.get(name.replace(COMPUTED, '')) ?? []);
    const allowed = [...LABELS_OF_PROMETHEUS, ...ofMetrics];
    return labels.filter((label) => !allowed.includes(label)).map((label) => `${from}: ${label}`);
  });
  expect(unknown).toEqual([]);
});

test('every label value of a query is a word of the product', () => {
  const files = execFileSync('git', ['ls-files', 'src/bot'], { encoding: 'utf8' }).trim().split('\n');
  const source = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(name, 'utf8'))
    .join('\n');
  const values = queries.flatMap(({ expression }) => referencesOf(expression).values);
  expect(values.filter(({ value }) => !source.includes(`'${value}'`))).toEqual([]);
  expect(values.length).toBeGreaterThan(15);
});

test('each alert has a severity, a summary, a description and a line in the Chinese guide', () => {
  const page = readFileSync('docs/zh-CN/OPERATIONS.md', 'utf8');
  const rules = alertRules() as unknown as {
    alert: string;
    labels: { severity: string };
    annotations: { summary: string; description: string };
  }[];
  for (const { alert, labels, annotations } of rules) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(?:critical|warning)$/)]);
    expect([alert, annotations.summary.length > 10, annotations.description.length > 10]).toEqual([alert, true, true]);
    expect([alert, page.includes(`| \`${alert.replace(/^Parley/, '')}\` `)]).toEqual([alert, true]);
  }
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard();

  test('has panels with unique ids, a description and queries, which do not overlap', () => {
    const shown = panels.filter(({ type }) => type !== 'row');
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(shown.filter(({ description, targets }) => !description || !targets?.length)).toEqual([]);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });

  test('uses only variables that it defines', () => {
    const defined = templating.list.map(({ name }) => name);
    const used = [...JSON.stringify(panels).matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !defined.includes(name) && name !== '__rate_interval')).toEqual([]);
    expect(defined.filter((name) => !used.includes(name))).toEqual([]);
  });
});
