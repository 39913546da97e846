import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import { codeOf, cutFences, PAGES, readPage } from './pages.ts';

/** Commands that run here, with their expected output. */
const RUN: Readonly<Record<string, RegExp>> = {
  'npm run check': /^ok +Files .*\n(?:.*\n)*ok +Messaging app/,
  'npm run check -- --help': /npm run check -- --sign-in/,
  'npm run admin -- --help': /dead-letters/,
  "printf '%s' 'the password' | npm run -s hash-password": /^\$scrypt\$ln=\d+,r=\d+,p=\d+\$[\w+/]+\$[\w+/]+\n$/,
  'openssl rand -base64 32': /^[\w+/]{43}=\n$/,
};

const SERVER = 'starts servers until it is stopped; the journeys and test/bot/app/local start them';
const DOCKER = 'needs Docker; test/containers runs what the image holds';
const CLUSTER = 'needs a cluster; test/ops/kubernetes checks the objects';
const SYSTEMD = 'changes the system; test/ops/systemd checks the units';
const OWN_REDIS = 'needs the Redis of a deployment; backup.test.ts beside this runs it against one of its own';
const MINUTES = 'takes minutes and both cores';
const VERIFY = 'is a part of npm run verify, or all of it, and this test is one too';
const WRITES = 'writes into the project';
const LISTS = 'prints what rules.test.ts beside this reads';
const EVALUATION = 'asks through a whole Parley of its own; test/e2e/eval.test.ts runs it';
const UPGRADE = 'changes the work tree and its commits; upgrade.test.ts beside this runs it in a clone';
const AS_WHOM = 'test/e2e/scenes.test.ts asks it for several people and places';

/** Commands that do not run here, with the reason. A command in neither list is a fault. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm start': SERVER,
  'MESSENGER_PROTOCOL=slack npm start': SERVER,
  'ROLES=service npm start': SERVER,
  'PORT=8090 DATA_DIR=./data/service ROLES=service npm start': SERVER,
  'npm run dev': SERVER,
  'npm run test:watch -- PATH': 'runs until it is stopped',
  'npm run typecheck': VERIFY,
  'RETRIEVAL_SETS=FOLDER npm test -- test/bot/knowledge/retrieval':
    'needs retrieval sets, which are not in the repository',
  'npm pack': 'test/e2e/package packs and runs it',
  'npx file:PATH': 'test/e2e/package packs and runs it',
  'npm run check -- --sign-in': 'needs a person at a browser; test/cli/check signs in by itself',
  'npm run setup': 'asks at the terminal; test/cli/setup answers',
  'npm run setup -- --yes': 'needs a deployment around it; test/cli/setup has one',
  'npm run hash-password': 'waits for a password at the terminal; the line with printf runs',
  'docker compose up': 'needs Docker; test/containers/demo runs what it starts',
  'docker compose up -d': DOCKER,
  'docker compose stop': DOCKER,
  'docker compose down --volumes': DOCKER,
  'docker compose run --rm parley --help': DOCKER,
  'docker compose run --rm -T parley feedback --days 30 > feedback.csv': DOCKER,
  'docker compose run --rm backup': 'needs Docker; test/ops/redis-scripts runs its script',
  'docker compose run --rm restore FILE': 'needs Docker; test/ops/redis-scripts runs its script',
  'kubectl create secret generic parley-secrets --from-file=REDIS_URL --from-file=SECRET_KEY --from-file=CHAT_API_KEY':
    CLUSTER,
  'kubectl create configmap parley-config --from-file=policy.json': CLUSTER,
  'kubectl apply -k my-overlay': CLUSTER,
  'helm install parley ops/helm/parley -f my-values.yaml': CLUSTER,
  'useradd --system --home-dir /opt/parley --shell /usr/sbin/nologin parley': SYSTEMD,
  'git clone ADDRESS /opt/parley': SYSTEMD,
  'npm --prefix /opt/parley ci --ignore-scripts': SYSTEMD,
  'npm --prefix /opt/parley run build': SYSTEMD,
  'install -d -m 700 /etc/parley': SYSTEMD,
  'openssl rand -base64 32 > /etc/parley/secret-key': SYSTEMD,
  'cp ops/systemd/*.service /etc/systemd/system/': SYSTEMD,
  'install -D -m 644 ops/systemd/redis-parley.conf /etc/systemd/system/redis-server.service.d/parley.conf': SYSTEMD,
  'systemctl daemon-reload': SYSTEMD,
  'systemctl restart redis-server': SYSTEMD,
  'systemctl enable --now parley-receiver parley-worker@01 parley-worker@02': SYSTEMD,
  'docker compose build': DOCKER,
  'docker compose run --rm check': DOCKER,
  'PARLEY_HOST=parley.example.org docker compose --profile proxy up -d': DOCKER,
  'docker compose kill -s HUP worker-1 worker-2': DOCKER,
  'docker compose kill -s USR2 worker-1': DOCKER,
  'docker compose up -d worker-1': DOCKER,
  'docker compose up --build -d': DOCKER,
  'redis-cli --rdb parley-backup.rdb': OWN_REDIS,
  'redis-server --dir /var/lib/redis --appendonly no': OWN_REDIS,
  'redis-cli config set appendonly yes': OWN_REDIS,
  'redis-cli info persistence': OWN_REDIS,
  'npm run feedback': OWN_REDIS,
  'npm run -s feedback -- --days 30 > feedback.csv': OWN_REDIS,
  'npm run admin': OWN_REDIS,
  'npm run admin -- trace': OWN_REDIS,
  'npm run admin -- workers': OWN_REDIS,
  'npm run -s admin -- trace 1a2b3c4d': OWN_REDIS,
  'npm run admin -- audit verify': OWN_REDIS,
  'npm run -s admin -- audit verify': OWN_REDIS,
  'npm run -s admin -- audit show --account 20210001 --since 2026-11-01': OWN_REDIS,
  'npm run admin -- audit show --account ACCOUNT': OWN_REDIS,
  'npm run admin -- erase ACCOUNT': OWN_REDIS,
  'npm run admin -- hold ACCOUNT': OWN_REDIS,
  'npm run -s admin -- usage --csv --by department --since 2026-11-01 --until 2026-11-30 > usage.csv': OWN_REDIS,
  'npm run eval': EVALUATION,
  'npm run eval -- my-questions.yaml': EVALUATION,
  'npm run eval -- my-questions.yaml --against data/eval/RUN.json': EVALUATION,
  'npm run check -- --as "JG 3100 private"': AS_WHOM,
  'npm run check -- --as "XS 2203 group wrparleycampusit01"': AS_WHOM,
  'npm run check -- --as "QT private wecom"': AS_WHOM,
  'npm test': VERIFY,
  'npm test -- test/bot/config': VERIFY,
  'npm test -- test/bot/domain test/bot/turn test/bot/i18n test/simulator/offered-words test/e2e/slash-words': VERIFY,
  'npm test -- test/bot/knowledge test/bot/turn/files test/text-cost': VERIFY,
  'npm test -- test/bot/identity test/bot/config test/cli/check': VERIFY,
  'npm test -- test/bot/i18n test/bot/domain test/e2e/slash-words': VERIFY,
  'npm run test:all': VERIFY,
  'npm run verify': VERIFY,
  'npm run lint': VERIFY,
  'npm run lint -- --fix': WRITES,
  'npm run format': WRITES,
  'npm run rules': LISTS,
  'npm run rules -- accept-once': LISTS,
  'npm run settings:docs': WRITES,
  'npm run slack:manifest': WRITES,
  'npm run slack:manifest -- --agent': WRITES,
  'npm run test:long': MINUTES,
  'git pull': UPGRADE,
  'git diff --name-only --diff-filter=d HEAD -- config | tar -cf ../parley-config.tar -T - &&': UPGRADE,
  'git checkout HEAD -- config && git pull && tar -xf ../parley-config.tar': UPGRADE,
  'git reset --soft $(git merge-base HEAD @{upstream})': UPGRADE,
  'npm run release -- VERSION': 'changes the version, commits and tags',
  'npm run mutants': MINUTES,
  'npm run mutants -- RULE': MINUTES,
  'npm run bench': MINUTES,
  'npm run bench -- accept|answers|aged|knowledge|relay|scale|start': MINUTES,
  'BENCH_SCENES=idle npm run bench -- scale': MINUTES,
  'npm run chaos': MINUTES,
};

const SHELL = new Set(['sh', 'bash', 'shell', 'console']);
const BEGINS_LIKE_A_COMMAND =
  /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|docker|redis-cli|redis-server|openssl|printf|curl|git) /;
const SETTING = /^([A-Z][A-Z0-9_]*)=\S*(?:\s+#\s*(.*))?$/;

/** Every command of a page: all shell blocks, and commands within sentences. */
function linesOf(page: string): string[] {
  const text = readPage(page);
  const inBlocks = cutFences(text)
    .fences.filter(({ language }) => SHELL.has(language))
    .flatMap(({ lines }) => lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')));
  // In a block of settings the comment next to a setting contains the command.
  const typed = inBlocks.flatMap((line) => {
    const note = SETTING.exec(line)?.[2];
    if (!SETTING.test(line)) return [line];
    const command = /(?:openssl|npm|node) [\w -]*\w/.exec(note ?? '')?.[0];
    return command === undefined ? [] : [command.replace(/ $/, '')];
  });
  return [...typed, ...codeOf(text).filter((code) => BEGINS_LIKE_A_COMMAND.test(code))];
}

const pagesByLine = new Map<string, string[]>();
for (const page of PAGES.filter((each) => each !== 'CHANGELOG.md'))
  for (const line of linesOf(page)) pagesByLine.set(line, [...(pagesByLine.get(line) ?? []), page]);

test('every shell command of the pages is run here, or listed with the reason why not', () => {
  const known = new Set([...Object.keys(RUN), ...Object.keys(NOT_RUN)]);
  expect([...pagesByLine].filter(([line]) => !known.has(line))).toEqual([]);
});

test('every listed command still occurs on a page', () => {
  expect([...Object.keys(RUN), ...Object.keys(NOT_RUN)].filter((line) => !pagesByLine.has(line))).toEqual([]);
});

test('every npm script in the pages exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const asked = [...pagesByLine.keys()].flatMap((line) => [
    ...[...line.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name),
    ...[...line.matchAll(/\bnpm (start|test)\b/g)].map(([, name = '']) => name),
  ]);
  expect(asked.filter((name) => scripts[name] === undefined)).toEqual([]);
  expect(asked.length).toBeGreaterThan(10);
});

test('every name in a block of settings is a setting or its file variant', () => {
  const names = PAGES.flatMap((page) => cutFences(readPage(page)).fences)
    .filter(({ language }) => SHELL.has(language))
    .flatMap(({ lines }) => lines.flatMap((line) => SETTING.exec(line.trim())?.[1] ?? []));
  const settings: readonly string[] = SETTING_NAMES;
  expect(names.filter((name) => !settings.includes(name.replace(/_FILE$/, '')) && !settings.includes(name))).toEqual(
    [],
  );
  expect(names.length).toBeGreaterThan(10);
});

describe('commands of the pages, with the documented output', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-lines-'));
  const settings = join(folder, 'no-settings.env');
  writeFileSync(settings, '');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(Object.entries(RUN))(
    '%s',
    async (line, printed) => {
      const env = {
        ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], npm_config_loglevel: 'silent' },
        ...{ ENV_FILE: settings, DATA_DIR: folder },
      };
      const { stdout } = await promisify(execFile)('sh', ['-c', line], { env });
      expect(stdout).toMatch(printed);
    },
    120_000,
  );
});
