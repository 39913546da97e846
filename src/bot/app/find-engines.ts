import { KIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { asObject, parseJson } from '../../shared/parse-json.ts';
import type { EngineSearch, EngineView } from '../../simulator/local-controls.ts';
import type { Config } from '../config/config.ts';
import { chatModelNames } from '../model/chat-model-names.ts';
import { modelsIn } from '../model/probe-chat.ts';
import { usedPorts } from './used-ports.ts';

/** Any program can listen on these ports, so that its answer may be endless, slow or wrong. */
const LIMITS = { timeoutMs: 2 * SECOND_MS, connectMs: SECOND_MS, maxBytes: 256 * KIB_BYTES };
const MAX_MODELS = 100;
/** The engine that usually listens on a port. */
const USUAL: Readonly<Record<number, string>> = { 11434: 'Ollama', 1234: 'LM Studio', 8080: 'llama.cpp', 8000: 'vLLM' };
/** What engines write as `owned_by` of their models. */
const OWNERS: Readonly<Record<string, string>> = {
  library: 'Ollama',
  organization_owner: 'LM Studio',
  llamacpp: 'llama.cpp',
  vllm: 'vLLM',
};

/**
 * Asks each port of LOCAL_ENGINE_PORTS on this computer once for its models, without a key. Ports of this Parley are not
 * asked. Only model names that the bot can use are returned, and no other text of the answers.
 */
export async function findEngines(config: Config): Promise<EngineSearch> {
  const own = new Set(usedPorts(config).map(({ port }) => port));
  const ports = config.local.enginePorts.map((port) => ({ port, engine: USUAL[port], isOurs: own.has(port) }));
  const found = await Promise.all(ports.filter(({ isOurs }) => !isOurs).map(({ port }) => askEngine(port)));
  return { ports, engines: found.filter((engine) => engine !== undefined) };
}

/** @returns undefined if nothing there lists models without a key */
async function askEngine(port: number): Promise<EngineView | undefined> {
  const root = `http://127.0.0.1:${port}`;
  const list = await requestForCheck(`${root}/v1/models`, LIMITS);
  if (list.status !== 200) return undefined;
  const address = `${root}/v1`;
  const offered = modelsIn(list.body);
  const models = chatModelNames(offered ?? []).slice(0, MAX_MODELS);
  const name = ownerIn(list.body) ?? ((await isOllama(root)) ? 'Ollama' : undefined);
  // Ollama without any model lists `null`.
  return offered || name !== undefined ? { name, address, models } : undefined;
}

function ownerIn(body: string): string | undefined {
  const data = asObject(parseJson(body))?.['data'];
  const owner: unknown = Array.isArray(data) ? asObject(data[0])?.['owned_by'] : undefined;
  return typeof owner === 'string' && Object.hasOwn(OWNERS, owner) ? OWNERS[owner] : undefined;
}

/** Recognizes Ollama by its own list, because its `owned_by` is the namespace of a model. */
async function isOllama(root: string): Promise<boolean> {
  const tags = await requestForCheck(`${root}/api/tags`, LIMITS);
  return tags.status === 200 && Array.isArray(asObject(parseJson(tags.body))?.['models']);
}
