import { readFile } from 'node:fs/promises';
import { asError } from '../../shared/coded-error.ts';
import { parsePolicyFile } from '../../bot/policy/policy-file.ts';
import { ConfigFileError } from '../../shared/json-file.ts';
import { parseClientsFile } from '../../service/clients-file.ts';
import { parseDirectoryFile } from '../../service/directory-file.ts';
import { parseProfileMapFile } from '../../shared/sign-in/profile-map-file.ts';
import { modelsToRefer } from '../../bot/app/models.ts';
import { parseKnowledgeFile } from '../../bot/knowledge/knowledge-file.ts';
import { knownToScenes } from '../../bot/app/scenes.ts';
import { parseScenesFile } from '../../bot/policy/scenes-file.ts';
import { readWords } from '../../bot/policy/word-list.ts';
import { parsePromptsFile } from '../../bot/platforms/prompts-file.ts';
import { parseModelsFile } from '../../shared/models/models-file.ts';
import type { Config } from '../../bot/config/config.ts';
import { fileInUse, type ConfigFile } from '../../bot/config/config-file.ts';
import { TOOLS } from '../../bot/tools/registry.ts';
import { parseToolsFile } from '../../bot/tools/tools-file.ts';

interface NamedFile {
  setting: string;
  /** Without the file, people may do more than with it. */
  isLimit?: boolean;
  file: ConfigFile | undefined;
  /** @param path where the text was read. @throws ConfigFileError */
  parse?(text: string, path: string): unknown;
}

/** A file that applies, under the setting that names it. */
export interface FileInUse {
  setting: string;
  path: string;
  isLimit: boolean;
}

/**
 * Reads the files that the settings name before anything starts, so that a missing or malformed file is reported as a
 * configuration error and not as a crash.
 * @returns one sentence per fault, starting with the setting's name
 */
export async function faultsOfNamedFiles(config: Config): Promise<string[]> {
  return (await Promise.all(namedFiles(config).map(faultsOf))).flat();
}

/** The files that apply to these roles: the operator's own, and those shipped with Parley where the operator has none. */
export function filesInUse(config: Config): { own: FileInUse[]; shipped: FileInUse[] } {
  const files = namedFiles(config).flatMap(({ setting, file, isLimit = false }) =>
    file ? [{ setting, path: fileInUse(file), isOwn: fileInUse(file) === file.path, isLimit }] : [],
  );
  return { own: files.filter(({ isOwn }) => isOwn), shipped: files.filter(({ isOwn }) => !isOwn) };
}

/**
 * Faults of the operator's files that were in use and no longer exist. A file that limits what people may do is not replaced
 * by the shipped one while Parley runs (SECURITY.md checked-at-start).
 */
export function faultsOfLostLimits(inUse: readonly FileInUse[], config: Config): string[] {
  const own = new Set(filesInUse(config).own.map(({ path }) => path));
  return inUse
    .filter(({ isLimit, path }) => isLimit && !own.has(path))
    .map(
      ({ setting, path }) =>
        `${setting} (${path}) does not exist any more: restore the file, or restart Parley to use the one in defaults/`,
    );
}

/** A policy that is missing by mistake opens the bot to everyone, so this is not silent. */
export function hintOnPolicy({ mode, roles, policyFile }: Config): string | undefined {
  if (mode === 'local' || !roles.includes('worker') || fileInUse(policyFile) === policyFile.path) return undefined;
  return `${policyFile.path} does not exist, so Parley's own policy applies: everyone may use the bot, with every model and in every chat.`;
}

function namedFiles(config: Config): NamedFile[] {
  const { roles, chat, service, signIn, mode } = config;
  const has = (role: Config['roles'][number]) => roles.includes(role);
  const signsIn = signIn.mode !== 'off' && (has('receiver') || has('worker'));
  const allowPlainPasswords = mode === 'local';
  const parseDirectory = (text: string) => parseDirectoryFile(text, { allowPlainPasswords });
  const parsePolicy = (text: string) => parsePolicyFile(text, modelsToRefer(chat));
  const parseTools = (text: string) => parseToolsFile(text, TOOLS);
  return [
    ...(has('worker') || has('service') ? [modelsOf(config)] : []),
    ...(has('worker')
      ? [
          { setting: 'CHAT_SYSTEM_PROMPT_FILE', file: chat.systemPromptFile },
          { setting: 'POLICY_FILE', file: config.policyFile, parse: parsePolicy, isLimit: true },
          { setting: 'TOOLS_FILE', file: config.toolsFile, parse: parseTools, isLimit: true },
          knowledgeOf(config),
        ]
      : []),
    ...(has('worker') || has('receiver') ? [scenesOf(config)] : []),
    ...(has('worker')
      ? [{ setting: 'MODERATION_WORDS_FILE', isLimit: true, file: config.moderation.wordsFile, parse: readWords }]
      : []),
    ...(has('receiver') ? [{ setting: 'PROMPTS_FILE', file: config.promptsFile, parse: parsePromptsFile }] : []),
    ...(signsIn ? [profileMapOf(config)] : []),
    ...(has('service')
      ? [
          { setting: 'SERVICE_CLIENTS_FILE', file: named(service.clientsFile), parse: parseClientsFile },
          { setting: 'SERVICE_DIRECTORY_FILE', file: service.directoryFile, parse: parseDirectory },
          { setting: 'SERVICE_PROFILE_MAP_FILE', file: named(service.profileMapFile), parse: parseProfileMapFile },
        ]
      : []),
  ];
}

/** The same for the knowledge and scenes files. */
export async function faultsOfKnowledgeAndScenes(config: Config): Promise<string[]> {
  return (await Promise.all([knowledgeOf(config), scenesOf(config)].map(faultsOf))).flat();
}

function scenesOf(config: Config): NamedFile {
  const parse = (text: string) => parseScenesFile(text, knownToScenes(config));
  return { setting: 'SCENES_FILE', file: config.scenesFile, parse, isLimit: true };
}

function knowledgeOf({ knowledgeFile }: Config): NamedFile {
  return { setting: 'KNOWLEDGE_FILE', file: knowledgeFile, parse: parseKnowledgeFile };
}

/** The same for the profile map. */
export function faultsOfProfileMap(config: Config): Promise<string[]> {
  return faultsOf(profileMapOf(config));
}

function profileMapOf({ signIn }: Config): NamedFile {
  return { setting: 'SIGN_IN_PROFILE_MAP_FILE', file: named(signIn.profileMapFile), parse: parseProfileMapFile };
}

/** The same for the models file. */
export function faultsOfModelsFile(config: Config): Promise<string[]> {
  return faultsOf(modelsOf(config));
}

function modelsOf({ modelsFile, hasModelsSecret: hasSecret }: Config): NamedFile {
  return { setting: 'MODELS_FILE', file: modelsFile, parse: (text) => parseModelsFile(text, { hasSecret }) };
}

/** A file that Parley does not ship. */
function named(path: string | undefined): ConfigFile | undefined {
  return path === undefined ? undefined : { path };
}

async function faultsOf({ setting, file, parse }: NamedFile): Promise<string[]> {
  if (!file) return [];
  const path = fileInUse(file);
  try {
    const text = await readFile(path, 'utf8');
    parse?.(text, path);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigFileError) return thrown.faults.map((fault) => `${setting} (${path}): ${fault}`);
    const error = asError(thrown);
    const code = 'code' in error ? String(error.code) : error.name;
    return [`${setting} names ${path}, which cannot be read (${code}): correct the path or the file's permissions`];
  }
}
