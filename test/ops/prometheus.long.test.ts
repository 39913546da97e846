import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { got } from 'got';
import { parse, stringify } from 'yaml';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { countedStream } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { describeWith } from '../support/with-program.ts';
import { ALERTS_FILE, shippedQueries } from './queries.ts';

/** From the death of the last worker to an expression that is true. */
const MAX_ALERT_MS = 60_000;

describeWith('prometheus', 'a real Prometheus with the shipped files and a running deployment', () => {
  const deployment = useSlackDeployment();
  const folder = mkdtempSync(join(tmpdir(), 'parley-prometheus-'));
  let port: number;
  let ports: number[];
  let prometheus: ChildProcess;
  let output = '';

  const ask = async <Result>(path: string, query: Record<string, string> = {}): Promise<Result> => {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query).toString()}`;
    return (await got(url, { throwHttpErrors: false, retry: { limit: 0 } }).json<{ data: Result }>()).data;
  };
  const valuesOf = async (query: string) =>
    (await ask<{ result: { value: [number, string] }[] } | undefined>('query', { query }))?.result;

  beforeAll(async () => {
    [port = 0, ...ports] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const config = parse(readFileSync('ops/prometheus/prometheus.yml', 'utf8')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const [targets] = config.scrape_configs[0]?.static_configs ?? [];
    expect(targets?.targets).toHaveLength(ports.length);
    if (targets) targets.targets = ports.map((each) => `127.0.0.1:${each}`);
    copyFileSync(ALERTS_FILE, join(folder, 'alerts.yml'));
    writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
    const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
    prometheus = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'pipe' });
    prometheus.stderr?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    const isReady = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
      return answer?.status === 200;
    };
    await untilTrue(isReady, 30_000).catch(() => expect(output).toBe('a Prometheus that is ready'));
  }, 60_000);
  afterAll(async () => {
    prometheus.kill('SIGKILL');
    if (prometheus.exitCode === null && prometheus.signalCode === null) await once(prometheus, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });

  test('accepts every query, shows the traffic, and fires within a minute after all workers were killed', async () => {
    const [receiverPort, ...workerPorts] = ports.map(String);
    const modelsFile = join(folder, 'models.json');
    const price = { prompt: 2, completion: 8, currency: 'CNY' };
    writeFileSync(modelsFile, JSON.stringify([{ name: 'svc-plus', price }]));
    const common = { CANARY_SEC: '5', MODELS_FILE: modelsFile };
    await deployment.startProcess({ ...common, ROLES: 'receiver', METRICS_PORT: receiverPort ?? '' });
    const workers = [];
    for (const each of workerPorts)
      workers.push(await deployment.startProcess({ ...common, ROLES: 'worker', METRICS_PORT: each }));
    await untilTrue(async () => (await valuesOf('count(parley_running_turns)'))?.[0]?.value[1] === '2', 60_000);
    expect(await valuesOf('ALERTS{alertname="ParleyNoWorker"}')).toEqual([]);

    for (let round = 1; round <= 3; round += 1) {
      deployment.chat.script(countedStream(`answer ${round}`, 100, 20));
      await deployment.sender.direct(`U${round}`, 'a question');
      await deployment.untilShown(`DU${round}`, [`answer ${round}`], 30_000);
    }
    // A rate needs two samples.
    for (const name of ['deliveries_total{outcome="accepted"}', 'turn_duration_seconds_count', 'chat_tokens_total']) {
      const samples = `max(count_over_time(parley_${name}[5m])) >= 2`;
      await untilTrue(async () => ((await valuesOf(samples)) ?? []).length > 0, 60_000);
    }
    const failures: string[] = [];
    const withData = new Set<string>();
    for (const { from, expression } of shippedQueries()) {
      const query = expression.replaceAll('[1m]', '[5m]');
      const result = await valuesOf(query);
      if (result === undefined) failures.push(`${from}: ${query}`);
      else if (result.length > 0) withData.add(from);
    }
    expect(failures).toEqual([]);
    for (const title of WITH_DATA) expect([title, withData.has(`panel ${title}`)]).toEqual([title, true]);
    const { groups } = await ask<{ groups: { rules: { name: string; health: string; lastError?: string }[] }[] }>(
      'rules',
    );
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(rules.length).toBeGreaterThan(15);
    const firing = await valuesOf('ALERTS');
    expect(firing).toEqual([]);

    for (const each of workers) each.kill('SIGKILL');
    const killedAtMs = performance.now();
    const since = () => Math.round((performance.now() - killedAtMs) / 1_000);
    await deployment.sender.direct('U9', 'a question that waits');
    await untilTrue(async () => ((await valuesOf('absent(parley_running_turns)')) ?? []).length > 0, MAX_ALERT_MS);
    const trueAfterSec = since();
    const isFiring = 'ALERTS{alertname="ParleyNoWorker",alertstate="firing"}';
    await untilTrue(async () => ((await valuesOf(isFiring)) ?? []).length > 0, 2 * MAX_ALERT_MS);
    const firingAfterSec = since();
    const oldest = 'ALERTS{alertname="ParleyOldestQuestion"}';
    await untilTrue(async () => ((await valuesOf(oldest)) ?? []).length > 0, 3 * MAX_ALERT_MS);
    process.stderr.write(
      `ParleyNoWorker: true after ${trueAfterSec} s, firing after ${firingAfterSec} s; ParleyOldestQuestion: true after ${since()} s\n`,
    );
    expect(trueAfterSec).toBeLessThanOrEqual(MAX_ALERT_MS / 1_000);
  }, 400_000);
});

/** Panels that must have data after three answered questions. */
const WITH_DATA = [
  ...['Workers', 'Waiting questions', 'Oldest question', 'Live turns', 'First text, p95', 'Last canary'],
  ...['Accepted messages', 'Turns by outcome', 'Answer latency', 'Backlog', 'Calls by outcome', 'Tokens by model'],
  ...['Cost per hour by model', 'Redis memory', 'Process memory', 'Processor', 'Restarts', 'Versions'],
];
