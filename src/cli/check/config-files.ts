import { readFile } from 'node:fs/promises';
import { asError } from '../../shared/coded-error.ts';
import { parsePolicyFile } from '../../bot/policy/policy-file.ts';
import { ConfigFileError } from '../../shared/json-file.ts';
import { parseClientsFile } from '../../service/clients-file.ts';
import { parseDirectoryFile } from '../../service/directory-file.ts';
import { parseProfileMapFile } from '../../shared/sign-in/profile-map-file.ts';
import { modelsFileOf, modelsToRefer } from '../../bot/app/models.ts';
import { knowledgeFileOf } from '../../bot/app/knowledge.ts';
import { parseKnowledgeFile } from '../../bot/knowledge/knowledge-file.ts';
import { promptsFileOf } from '../../bot/app/prompts.ts';
import { knownToScenes, scenesFileOf } from '../../bot/app/scenes.ts';
import { parseScenesFile } from '../../bot/policy/scenes-file.ts';
import { parsePromptsFile } from '../../bot/platforms/prompts-file.ts';
import { parseModelsFile } from '../../shared/models/models-file.ts';
import type { Config } from '../../bot/config/config.ts';
import { TOOLS } from '../../bot/tools/registry.ts';
import { parseToolsFile } from '../../bot/tools/tools-file.ts';

interface NamedFile {
  setting: string;
  path: string | undefined;
  /** @throws ConfigFileError */
  parse?(text: string): unknown;
}

/**
 * Reads the files that the settings name before anything starts, so that a missing or malformed file is reported as a
 * configuration error and not as a crash.
 * @returns one sentence per fault, starting with the setting's name
 */
export async function faultsOfNamedFiles(config: Config): Promise<string[]> {
  const { roles, chat, service, signIn, mode } = config;
  const signsIn = signIn.mode !== 'off' && (roles.includes('receiver') || roles.includes('worker'));
  const allowPlainPasswords = mode === 'local';
  const parseDirectory = (text: string) => parseDirectoryFile(text, { allowPlainPasswords });
  const parsePolicy = (text: string) => parsePolicyFile(text, modelsToRefer(chat));
  const parseTools = (text: string) => parseToolsFile(text, TOOLS);
  const files: NamedFile[] = [
    ...(roles.includes('worker')
      ? [
          { setting: 'CHAT_SYSTEM_PROMPT_FILE', path: chat.systemPromptFile },
          { setting: 'POLICY_FILE', path: config.policyFile, parse: parsePolicy },
          scenesOf(config),
          { setting: 'TOOLS_FILE', path: config.toolsFile, parse: parseTools },
          knowledgeOf(config),
        ]
      : []),
    ...(roles.includes('receiver') && !roles.includes('worker') ? [scenesOf(config)] : []),
    ...(roles.includes('receiver')
      ? [{ setting: 'PROMPTS_FILE', path: promptsFileOf(config), parse: parsePromptsFile }]
      : []),
    ...(signsIn ? [profileMapOf(config)] : []),
    ...(roles.includes('service')
      ? [
          { setting: 'SERVICE_CLIENTS_FILE', path: service.clientsFile, parse: parseClientsFile },
          { setting: 'SERVICE_DIRECTORY_FILE', path: service.directoryFile, parse: parseDirectory },
          { setting: 'SERVICE_PROFILE_MAP_FILE', path: service.profileMapFile, parse: parseProfileMapFile },
        ]
      : []),
  ];
  const ofModels = roles.includes('worker') || roles.includes('service') ? await faultsOfModelsFile(config) : [];
  return [...ofModels, ...(await Promise.all(files.map(faultsOf))).flat()];
}

/** The same for the knowledge and scenes files. */
export async function faultsOfKnowledgeAndScenes(config: Config): Promise<string[]> {
  return (await Promise.all([knowledgeOf(config), scenesOf(config)].map(faultsOf))).flat();
}

function scenesOf(config: Config): NamedFile {
  const parse = (text: string) => parseScenesFile(text, knownToScenes(config));
  return { setting: 'SCENES_FILE', path: scenesFileOf(config), parse };
}

function knowledgeOf(config: Config): NamedFile {
  const path = knowledgeFileOf(config);
  const parse = (text: string) => parseKnowledgeFile(text, path ?? config.knowledgeFile.path);
  return { setting: 'KNOWLEDGE_FILE', path, parse };
}

/** The same for the profile map. */
export function faultsOfProfileMap(config: Config): Promise<string[]> {
  return faultsOf(profileMapOf(config));
}

function profileMapOf({ signIn }: Config): NamedFile {
  return { setting: 'SIGN_IN_PROFILE_MAP_FILE', path: signIn.profileMapFile, parse: parseProfileMapFile };
}

/** The same for the models file. */
export function faultsOfModelsFile(config: Config): Promise<string[]> {
  return faultsOf({ setting: 'MODELS_FILE', path: modelsFileOf(config), parse: parseModelsFile });
}

async function faultsOf({ setting, path, parse }: NamedFile): Promise<string[]> {
  if (path === undefined) return [];
  try {
    const text = await readFile(path, 'utf8');
    parse?.(text);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigFileError) return thrown.faults.map((fault) => `${setting} (${path}): ${fault}`);
    const error = asError(thrown);
    const code = 'code' in error ? String(error.code) : error.name;
    return [`${setting} names ${path}, which cannot be read (${code}): correct the path or the file's permissions`];
  }
}
