import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../../shared/abortable.ts';
import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { listenForStop } from '../../shared/process/stop-signals.ts';
import { ConfigFileError } from '../../shared/json-file.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { readGroups } from '../../bot/app/messenger.ts';
import { readChatCatalog } from '../../bot/app/models.ts';
import { parseKnowledgeFile } from '../../bot/knowledge/knowledge-file.ts';
import type { Group } from '../../simulator/directory.ts';
import { parseDirectoryFile, type ServicePerson } from '../../service/directory-file.ts';
import type { Config } from '../../bot/config/config.ts';
import { exampleFile, fileInUse } from '../../bot/config/config-file.ts';
import type { Environment } from '../../bot/config/read-values.ts';
import type { EvalArguments } from '../command-line.ts';
import { QuestionRunner } from './ask-questions.ts';
import { faultsOf, type Answer } from './judge-answer.ts';
import { judgeByModel, DEFAULT_CRITERION } from './judge-model.ts';
import { EvalStartError, settingsOf, startLocalParley, type LocalParley } from './local-parley.ts';
import { peopleOf } from './people.ts';
import { createProgress, type Progress } from './progress.ts';
import { parseQuestions, SOME_GROUP, type Question } from './questions-file.ts';
import { translatorTo, type Translate } from '../terminal/translate.ts';
import { lineOf, pageOf, summaryOf } from './report.ts';
import { readRun, type Result, type RunRecord } from './run-record.ts';

/** Documents are indexed in the background after the start. */
const INDEX_TIMEOUT_MS = 2 * MINUTE_MS;
const POLL_INTERVAL_MS = 200;

interface EvalCommand {
  asked: EvalArguments;
  env: Environment;
  cwd: string;
  output: { write(text: string): unknown };
  /** Output for error messages and, on a terminal, the progress. */
  asides: { write(text: string): unknown; isTTY?: boolean };
  /** Defaults to English. JSON is always English. */
  translate?: Translate;
}

/**
 * `npm run eval`: asks the questions of a file in a temporary local Parley with the configured engine, and reports which
 * answers do not meet their criteria. Ctrl+C ends it; the finished results are kept.
 * @returns the exit code: 0 only if all answers pass
 */
export async function runEvalCommand(given: EvalCommand): Promise<number> {
  const { asked, cwd, asides, translate = translatorTo('en') } = given;
  // The shipped questions are about the example documents.
  const env = asked.file === undefined ? { ...given.env, KNOWLEDGE_FILE: exampleFile('knowledge.json') } : given.env;
  const command = { ...given, env };
  const progress = createProgress(asides, translate);
  const interrupt = new AbortController();
  const endListening = listenForStop({
    onStop: () => interrupt.abort(new Error('interrupted')),
    onInsist: () => process.exit(EXIT.crash),
  });
  try {
    const file = asked.file === undefined ? exampleFile('questions.yaml') : resolve(cwd, asked.file);
    const questions = named(file, () => parseQuestions(readFileSync(file, 'utf8')));
    const before = asked.against === undefined ? undefined : readEarlier(resolve(cwd, asked.against));
    const { config } = settingsOf(env, cwd);
    const directory = directoryOf(config);
    const people = peopleOf(directory, questions);
    const strangers = questions.filter((one) => !people.askerOf(one)).map(({ as }) => as ?? 'anybody');
    if (strangers.length > 0)
      throw new EvalStartError([
        `The directory has no person for ${[...new Set(strangers)].join(', ')}: name a person of the directory, or write for example JG 3100, XS 2203 or unlinked`,
      ]);
    const members = people.directory.flatMap(({ messaging }) => messaging['wecom'] ?? []);
    const groups = groupsOf(await readGroups(config), questions, members);
    progress.show('Starting a temporary Parley ...');
    const parley = await startLocalParley({ env, cwd }, { directory: people.directory, groups });
    try {
      const { signal } = interrupt;
      const place = { file: relative(cwd, file), progress, signal };
      return await ask(command, { parley, questions, people, groups, before, ...place });
    } finally {
      progress.show('Stopping the temporary Parley ...');
      await parley.close();
      progress.clear();
    }
  } catch (thrown) {
    if (!(thrown instanceof EvalStartError)) throw thrown;
    progress.clear();
    for (const fault of thrown.faults) asides.write(`${translate(fault)}\n`);
    return EXIT.usage;
  } finally {
    endListening();
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
  progress: Progress;
  /** Aborted by Ctrl+C. */
  signal: AbortSignal;
}

async function ask(
  { asked, output, cwd, env, translate = translatorTo('en') }: EvalCommand,
  run: Run,
): Promise<number> {
  const { parley, questions, people, groups, before, file, progress, signal } = run;
  // With --json, standard output is the record.
  const say = (text: string) => {
    progress.clear();
    if (!asked.isJson) output.write(translate(text));
  };
  const { app, config } = parley;
  const { driver } = app;
  if (!driver) throw new TypeError('Local mode started no messenger');
  progress.show('Waiting for the documents to be indexed ...');
  await abortable(untilReady(parley), signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  const asking = new QuestionRunner({
    driver,
    someGroup: groups[0]?.id ?? SOME_GROUP,
    perMinute: asked.perMinute,
    mustSignIn: config.signIn.mode === 'required',
    signal,
  });
  const { baseUrl, model } = config.chat;
  const { headers } = readChatCatalog(config, app.secrets).of(model);
  const judge = { baseUrl, apiKey: app.secrets.chatApiKey ?? '', headers, model };
  say(`${questions.length} questions of ${file}, at most ${asked.perMinute} a minute, to ${config.chat.model}\n`);
  const isInterrupted = () => signal.aborted;
  const results: Result[] = [];
  for (const [index, question] of questions.entries()) {
    const asker = people.askerOf(question);
    if (!asker || isInterrupted()) continue;
    progress.show(`Question ${index + 1} of ${questions.length}: ${question.ask}`);
    const { answer, failure } = await abortable(asking.ask(question, asker), signal).then(
      (given) => ({ answer: given, failure: undefined }),
      (error: unknown) => ({ answer: NO_ANSWER, failure: asError(error).message }),
    );
    if (isInterrupted()) break;
    const { tookMs } = asking;
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
    say(`${lineOf(result, results.length)}\n`);
  }
  const record: RunRecord = {
    version: 1,
    at: new Date().toISOString(),
    questions: file,
    model: config.chat.model,
    results,
  };
  const kept = results.length === 0 ? [] : keep(record, before, resolve(cwd, env['DATA_DIR'] ?? 'data'));
  if (asked.isJson) output.write(`${JSON.stringify(record, undefined, 2)}\n`);
  const isWhole = results.length === questions.length;
  if (!isWhole) say(`\nInterrupted after ${results.length} of ${questions.length} questions\n`);
  say(`\n${summaryOf(record, before)}\n`);
  for (const path of kept) say(`${relative(cwd, path)}\n`);
  return isWhole && results.every(({ holds }) => holds) ? EXIT.ok : EXIT.failed;
}

const NO_ANSWER: Answer = { text: '', beside: '' };

function placeOf({ group }: Question): string {
  if (group === undefined) return 'private';
  return group === SOME_GROUP ? 'group' : `group ${group}`;
}

function directoryOf({ service }: Config): readonly ServicePerson[] {
  if (!service.directoryFile) return [];
  const path = fileInUse(service.directoryFile);
  return named(path, () => parseDirectoryFile(readFileSync(path, 'utf8'), { allowPlainPasswords: true }));
}

/** All people are members of every group, so that each question can be asked there. */
function groupsOf(own: readonly Group[], questions: readonly Question[], members: readonly string[]): Group[] {
  const named = questions.flatMap(({ group }) => (group === undefined || group === SOME_GROUP ? [] : [group]));
  const ids = [...new Set([...own.map(({ id }) => id), ...named, ...(own.length === 0 ? [SOME_GROUP] : [])])];
  return ids.map((id) => ({ id, name: own.find((one) => one.id === id)?.name ?? id, members: [...members] }));
}

/** Waits until the bot accepts messages and local documents are indexed. */
async function untilReady({ app, config }: LocalParley): Promise<void> {
  const path = fileInUse(config.knowledgeFile);
  const { sources } = parseKnowledgeFile(readFileSync(path, 'utf8'), path);
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
