import { readFileSync } from 'node:fs';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { withModelsToday } from '../../bot/app/listed-models.ts';
import { modelsToRefer } from '../../bot/app/models.ts';
import { readPolicyFile } from '../../bot/app/read-policy-file.ts';
import { readScenes } from '../../bot/app/scenes.ts';
import { createTools } from '../../bot/app/tools.ts';
import { describePlatform } from '../../bot/platforms/registry.ts';
import { KNOWLEDGE_SEARCH } from '../../bot/tools/knowledge-search.ts';
import { parseKnowledgeFile } from '../../bot/knowledge/knowledge-file.ts';
import { createPolicy } from '../../bot/policy/policy.ts';
import type { PolicyRule } from '../../bot/policy/policy-file.ts';
import { createScenes, sceneModels } from '../../bot/policy/scenes.ts';
import type { Scene } from '../../bot/policy/scenes-file.ts';
import type { PolicyPerson, PolicyPlace, Subject } from '../../bot/policy/subject.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import { fileInUse } from '../../bot/config/config-file.ts';
import type { ImpersonationArgs } from './impersonation-args.ts';
import { faultsOfNamedFiles } from './config-files.ts';
import { padColumns } from '../terminal/translate.ts';
import { checkLine, lookOf, type CheckOutput } from './run-checks.ts';

/**
 * `npm run check -- --as …`: shows how the configuration files treat a given user's question, without sending it.
 * @returns the exit code
 */
export async function runAsCommand(
  set: Config,
  secrets: Secrets,
  asked: ImpersonationArgs,
  output: CheckOutput = process.stdout,
): Promise<number> {
  const config = await withModelsToday(set, secrets);
  const faults = await faultsOfNamedFiles(config);
  if (faults.length > 0) {
    const look = lookOf(output, 0);
    for (const detail of faults) output.write(`${checkLine({ name: '', verdict: 'fault', detail }, look)}\n`);
    return EXIT.failed;
  }
  const lines = linesOf(config, secrets, asked);
  if (output.isJson === true) output.write(`${JSON.stringify(Object.fromEntries(lines), undefined, 2)}\n`);
  else {
    const { translate } = lookOf(output, 0);
    for (const [name, words] of lines) output.write(`${padColumns(translate(name), 13)}${translate(words)}\n`);
  }
  return EXIT.ok;
}

function linesOf(config: Config, secrets: Secrets, asked: ImpersonationArgs): [string, string][] {
  const { person, place } = asked;
  const platform = asked.platform ?? config.platforms[0] ?? config.local.messengerProtocol;
  const { models, model } = config.chat;
  const file = readPolicyFile(config, modelsToRefer(config.chat));
  const verdict = createPolicy({ file, models, defaultModel: model }).judge(person, place);
  const rule = file.rules.find(({ name }) => name === verdict.rule);
  const scene = createScenes(readScenes(config)).of(person, { ...place, platform });
  const lines: [string, string][] = [
    ['Who', `${formatPerson(person)}, ${formatPlace(place)} on ${describePlatform(platform).label.en}`],
    ['Rule', formatRule(verdict.rule, rule)],
    ['Scene', scene ? formatScene(scene) : 'no scene matches'],
  ];
  if (person === undefined && config.signIn.mode === 'required')
    return [...lines, ['Answer', 'none before they sign in (SIGN_IN=required)']];
  if (verdict.kind === 'refused') return [...lines, ['Answer', `refused: ${REFUSALS[verdict.because]}`]];
  const left = sceneModels(scene, verdict.models);
  if (!left) return [...lines, ['Answer', 'refused: the rule and the scene have no allowed model in common']];
  const sources = sourcesOf(config);
  // Nothing is searched here. The stub only enables the search tool.
  const knowledge = sources.length > 0 ? { hasSources: true, search: () => Promise.resolve([]) } : undefined;
  const toolbox = createTools({ config, secrets, nowMs: Date.now, egress: undefined, knowledge });
  const account = person && { ...person, accountId: '', name: '', departmentName: '' };
  const tools = toolbox.offer({
    person: account,
    place,
    language: 'en',
    tools: scene?.tools,
    knowledge: scene?.knowledge,
  });
  const maySearch = tools.some(({ name }) => name === KNOWLEDGE_SEARCH);
  return [
    ...lines,
    ['Models', left.map((name, index) => (index === 0 ? `${name} (default)` : name)).join(', ')],
    ['Tools', listed(tools.map(({ name }) => name))],
    ['Knowledge', formatKnowledge(sources, { scene, maySearch, isPublicOnly: !person || place.kind !== 'private' })],
    ...settledBy(scene),
  ];
}

const REFUSALS = {
  person: 'the rule does not let them use the bot',
  private: 'the rule does not let them ask privately',
  group: 'the rule does not let them ask in this group',
} as const;

function formatPerson(person: PolicyPerson | undefined): string {
  if (!person) return 'a person who is not signed in';
  return person.department === '' ? person.identityCode : `${person.identityCode} of department ${person.department}`;
}

function formatPlace({ kind, id }: PolicyPlace): string {
  return kind === 'private' ? 'in a private chat' : `in the group ${id}`;
}

function formatRule(name: string, rule: PolicyRule | undefined): string {
  return rule ? `${name}: the first match (${formatSubject(rule.who)})` : `${name}: no earlier rule matches`;
}

function formatScene({ name, who, groups, platforms }: Scene): string {
  const conditions = [
    formatSubject(who),
    ...(groups === undefined ? [] : [`groups ${typeof groups === 'string' ? groups : groups.join(', ')}`]),
    ...(platforms ? [`platforms ${platforms.join(', ')}`] : []),
  ];
  return `${name}: the first match (${conditions.join('; ')})`;
}

function formatSubject({ signedIn, identity, departments }: Subject): string {
  const conditions = [
    ...(signedIn === undefined ? [] : [signedIn ? 'signed in' : 'not signed in']),
    ...(identity ? [`identity ${identity.join(', ')}`] : []),
    ...(departments ? [`departments ${departments.join(', ')}`] : []),
  ];
  return conditions.length === 0 ? 'everyone' : conditions.join('; ');
}

function sourcesOf({ knowledgeFile }: Config): string[] {
  const path = fileInUse(knowledgeFile);
  return parseKnowledgeFile(readFileSync(path, 'utf8'), path).sources.map(({ name }) => name);
}

interface Searching {
  scene: Scene | undefined;
  /** Whether the model is offered the search tool. */
  maySearch: boolean;
  /** In groups, and for users who are not signed in. */
  isPublicOnly: boolean;
}

function formatKnowledge(sources: readonly string[], { scene, maySearch, isPublicOnly }: Searching): string {
  const asked = sources.filter((name) => scene?.knowledge?.includes(name) ?? true);
  const unknown = (scene?.knowledge ?? []).filter((name) => !sources.includes(name));
  const missing = unknown.length === 0 ? '' : ` (KNOWLEDGE_FILE has no ${unknown.join(', ')})`;
  if (asked.length === 0) return `none${missing}`;
  if (!maySearch) return `none: ${KNOWLEDGE_SEARCH} is not available here${missing}`;
  return `${isPublicOnly ? 'public documents of' : 'documents that they may read in'} ${asked.join(', ')}${missing}`;
}

function settledBy(scene: Scene | undefined): [string, string][] {
  if (!scene) return [];
  const { instructions, thinking, language, style, welcome, prompts } = scene;
  const said = [
    ...(instructions === undefined ? [] : [`instructions of ${instructions.length} characters`]),
    ...(thinking === undefined ? [] : [`thinking ${thinking}`]),
    ...(language === undefined ? [] : [`language ${language}`]),
    ...(style === undefined ? [] : [`style ${style}`]),
    ...(welcome ? ['its own welcome'] : []),
    ...(prompts ? ['its own suggested questions'] : []),
  ];
  return said.length === 0 ? [] : [['Besides', said.join(', ')]];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
