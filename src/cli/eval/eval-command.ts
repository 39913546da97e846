import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { ConfigFileError } from '../../shared/json-file.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { EXAMPLE_KNOWLEDGE_FILE, knowledgeFileOf } from '../../bot/app/knowledge.ts';
import { readGroups } from '../../bot/app/messenger.ts';
import { parseKnowledgeFile } from '../../bot/knowledge/knowledge-file.ts';
import type { Group } from '../../simulator/directory.ts';
import { parseDirectoryFile } from '../../service/directory-file.ts';
import type { Environment } from '../../bot/config/read-values.ts';
import { QuestionRunner } from './ask-questions.ts';
import type { EvalArguments } from './eval-arguments.ts';
import { faultsOf, type Answer } from './judge-answer.ts';
import { judgeByModel, DEFAULT_CRITERION } from './judge-model.ts';
import { EvalStartError, settingsOf, startLocalParley, type LocalParley } from './local-parley.ts';
import { peopleOf } from './people.ts';
import { parseQuestions, SOME_GROUP, type Question } from './questions-file.ts';
import { lineOf, pageOf, summaryOf } from './report.ts';
import { readRun, type Result, type RunRecord } from './run-record.ts';

const SHIPPED = fileURLToPath(new URL('../../../examples/questions.yaml', import.meta.url));
/** Documents are indexed in the background after the start. */
const INDEX_TIMEOUT_MS = 2 * MINUTE_MS;
const POLL_INTERVAL_MS = 200;

interface EvalCommand {
  asked: Extract<EvalArguments, { kind: 'eval' }>;
  env: Environment;
  cwd: string;
  output: { write(text: string): unknown };
  /** Output for error messages. */
  asides: { write(text: string): unknown };
}

/**
 * `npm run eval`: asks the questions of a file in a temporary local Parley with the configured engine, and reports which
 * answers do not meet their criteria.
 * @returns the exit code: 0 only if all answers pass
 */
export async function runEvalCommand(given: EvalCommand): Promise<number> {
  const { asked, cwd, asides } = given;
  // The shipped questions are about the example documents.
  const env = asked.file === undefined ? { ...given.env, KNOWLEDGE_FILE: EXAMPLE_KNOWLEDGE_FILE } : given.env;
  const command = { ...given, env };
  try {
    const file = asked.file === undefined ? SHIPPED : resolve(cwd, asked.file);
    const questions = named(file, () => parseQuestions(readFileSync(file, 'utf8')));
    const before = asked.against === undefined ? undefined : readEarlier(resolve(cwd, asked.against));
    const { config } = settingsOf(env, cwd);
    const { directoryFile } = config.service;
    const directory =
      directoryFile === undefined
        ? []
        : named(directoryFile, () =>
            parseDirectoryFile(readFileSync(directoryFile, 'utf8'), { allowPlainPasswords: true }),
          );
    const people = peopleOf(directory, questions);
    const strangers = questions.filter((one) => !people.askerOf(one)).map(({ as }) => as ?? 'anybody');
    if (strangers.length > 0)
      throw new EvalStartError([
        `The directory has no person for ${[...new Set(strangers)].join(', ')}: name a person of the directory, or write for example JG 3100, XS 2203 or unlinked`,
      ]);
    const members = people.directory.flatMap(({ messaging }) => messaging['wecom'] ?? []);
    const groups = groupsOf(await readGroups(), questions, members);
    const parley = await startLocalParley({ env, cwd }, { directory: people.directory, groups });
    try {
      return await ask(command, { parley, questions, people, groups, before, file: relative(cwd, file) });
    } finally {
      await parley.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof EvalStartError)) throw thrown;
    for (const fault of thrown.faults) asides.write(`${fault}\n`);
    return EXIT.usage;
  }
}

interface Run {
  parley: LocalParley;
  questions: readonly Question[];
  people: ReturnType<typeof peopleOf>;
  groups: readonly Group[];
  before: RunRecord | undefined;
  /** Path of the questions file, for messages. */
  file: string;
}

async function ask({ asked, output, cwd, env }: EvalCommand, run: Run): Promise<number> {
  const { parley, questions, people, groups, before, file } = run;
  const { app, config } = parley;
  const { driver } = app;
  if (!driver) throw new TypeError('Local mode started no messenger');
  await untilReady(parley);
  const asking = new QuestionRunner({
    driver,
    someGroup: groups[0]?.id ?? SOME_GROUP,
    perMinute: asked.perMinute,
    mustSignIn: config.signIn.mode === 'required',
  });
  const judge = { baseUrl: config.chat.baseUrl, apiKey: app.secrets.chatApiKey ?? '', model: config.chat.model };
  output.write(
    `${questions.length} questions of ${file}, at most ${asked.perMinute} a minute, to ${config.chat.model}\n`,
  );
  const results: Result[] = [];
  for (const question of questions) {
    const asker = people.askerOf(question);
    if (!asker) continue;
    const beganMs = monotonicMs();
    const { answer, failure } = await asking.ask(question, asker).then(
      (given) => ({ answer: given, failure: undefined }),
      (error: unknown) => ({ answer: NO_ANSWER, failure: asError(error).message }),
    );
    const tookMs = Math.round(monotonicMs() - beganMs);
    const criterion = question.judge ?? (asked.judgesAll ? DEFAULT_CRITERION : undefined);
    const faults = failure === undefined ? faultsOf(question, answer) : [failure];
    // An answer that fails the text checks needs no judge.
    if (criterion !== undefined && faults.length === 0) {
      const verdict = await judgeByModel(judge, { question: question.ask, answer: answer.text, criterion });
      if (verdict !== undefined) faults.push(verdict);
    }
    const { text, beside, sources } = answer;
    const result: Result = {
      ...{ ask: question.ask, as: question.as ?? asker.userId, in: placeOf(question), holds: faults.length === 0 },
      ...{ faults, text, beside: [beside, sources ?? ''].filter((words) => words !== '').join('\n'), tookMs },
    };
    results.push(result);
    output.write(`${lineOf(result, results.length)}\n`);
  }
  const record: RunRecord = {
    version: 1,
    at: new Date().toISOString(),
    questions: file,
    model: config.chat.model,
    results,
  };
  const kept = keep(record, before, resolve(cwd, env['DATA_DIR'] ?? 'data'));
  output.write(`\n${summaryOf(record, before)}\n`);
  for (const path of kept) output.write(`${relative(cwd, path)}\n`);
  return results.every(({ holds }) => holds) ? EXIT.ok : EXIT.failed;
}

const NO_ANSWER: Answer = { text: '', beside: '' };

function placeOf({ group }: Question): string {
  if (group === undefined) return 'private';
  return group === SOME_GROUP ? 'group' : `group ${group}`;
}

/** All people are members of every group, so that each question can be asked there. */
function groupsOf(own: readonly Group[], questions: readonly Question[], members: readonly string[]): Group[] {
  const named = questions.flatMap(({ group }) => (group === undefined || group === SOME_GROUP ? [] : [group]));
  const ids = [...new Set([...own.map(({ id }) => id), ...named, ...(own.length === 0 ? [SOME_GROUP] : [])])];
  return ids.map((id) => ({ id, name: own.find((one) => one.id === id)?.name ?? id, members: [...members] }));
}

/** Waits until the bot accepts messages and local documents are indexed. */
async function untilReady({ app, config }: LocalParley): Promise<void> {
  const path = knowledgeFileOf(config);
  const sources = path === undefined ? [] : parseKnowledgeFile(readFileSync(path, 'utf8'), path).sources;
  const hasFolder = sources.some(({ kind }) => kind !== 'dify');
  const untilMs = monotonicMs() + INDEX_TIMEOUT_MS;
  const isIndexed = async () => {
    const { body = '' } = { body: undefined, ...(await requestForCheck(`${config.http.publicUrl}/metrics`)) };
    return /^parley_knowledge_documents [1-9]/m.test(body);
  };
  while (monotonicMs() < untilMs) {
    if (app.driver?.isBotReachable() === true && (!hasFolder || (await isIndexed()))) return;
    await pause(POLL_INTERVAL_MS);
  }
  throw new EvalStartError(['Parley did not become ready: no documents were indexed. Run npm start to see the cause']);
}

/** @returns the paths of the record and the page */
function keep(record: RunRecord, before: RunRecord | undefined, dataDir: string): string[] {
  const folder = join(dataDir, 'eval');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = record.at.replace(/[:.]/g, '-');
  const [json, page] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  // May contain restricted document content.
  writeFileSync(json, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  writeFileSync(page, pageOf(record, before), { mode: 0o600 });
  return [json, page];
}

function readEarlier(path: string): RunRecord {
  const run = named(path, () => readRun(readFileSync(path, 'utf8')));
  if (!run) throw new EvalStartError([`${path} is not a run saved by npm run eval`]);
  return run;
}

/** @throws CannotStart with the file's name */
function named<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ConfigFileError) throw new EvalStartError(thrown.faults.map((fault) => `${path}: ${fault}`));
    const error = asError(thrown);
    throw new EvalStartError([`${path} cannot be read (${'code' in error ? String(error.code) : error.name})`]);
  }
}
