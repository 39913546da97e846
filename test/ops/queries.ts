import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A PromQL expression that is shipped in ops/, with the place that it is from. */
export interface ShippedQuery {
  from: string;
  expression: string;
}

interface AlertRule {
  alert: string;
  expr: string;
}

export const ALERTS_FILE = 'ops/prometheus/alerts.yml';
export const DASHBOARD_FILE = 'ops/grafana/parley.json';

export function alertRules(): AlertRule[] {
  const file = parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { h: number; w: number; x: number; y: number };
  targets?: { expr: string; refId: string }[];
}

export interface Dashboard {
  uid: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as Dashboard;
}

/** Every query, with Grafana's variables replaced like in the browser. */
export function shippedQueries(): ShippedQuery[] {
  const panels = dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ from: `panel ${title}`, expression: withoutVariables(expr) })),
  );
  return [...alertRules().map(({ alert, expr }) => ({ from: `alert ${alert}`, expression: expr })), ...panels];
}

function withoutVariables(expression: string): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$model', '.*')
    .replaceAll(/\$price_\w+/g, '2');
}

/** What a query refers to. */
export interface References {
  metrics: string[];
  /** Labels of selectors and of `by`. */
  labels: string[];
  /** Values that selectors compare labels with. */
  values: { label: string; value: string }[];
}

export function referencesOf(expression: string): References {
  const matchers = [...expression.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)];
  const groups = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/\s*,\s*/));
  return {
    metrics: unique([...expression.matchAll(/\b(?:parley|process|nodejs)_\w+/g)].map(([name]) => name)),
    labels: unique([...matchers.map(([, label = '']) => label), ...groups]),
    values: matchers
      .flatMap(([, label = '', , value = '']) => value.split('|').map((each) => ({ label, value: each })))
      .filter(({ value }) => value !== '.*'),
  };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
