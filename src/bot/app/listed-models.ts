import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { Deferred } from '../../shared/deferred.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import type { Config, Secrets } from '../config/config.ts';
import { ChatError } from '../model/chat-error.ts';
import { commonHeaders } from '../../shared/models/model-catalog.ts';
import { chatModelNames } from '../model/chat-model-names.ts';
import { listModels } from '../model/list-models.ts';
import { readCatalog, readChatCatalog } from './models.ts';

const LIST_LIMITS = { connectMs: 3 * SECOND_MS, firstByteMs: 5 * SECOND_MS };
/** Pause before the list is requested again: while questions wait for it, and afterwards. */
const ASK_AGAIN_MS = 2 * SECOND_MS;
const ASK_LATER_MS = MINUTE_MS;
/** As long as a question waits for an unreachable service. */
const HOLD_MS = 2 * MINUTE_MS;

/**
 * Requests the models of the chat service, if CHAT_MODELS does not name them.
 * @returns the configuration with these models; the given one if the service has no list. @throws ChatError
 */
export async function withListedModels(config: Config, secrets: Secrets, signal?: AbortSignal): Promise<Config> {
  const { baseUrl, modelsFrom } = config.chat;
  if (modelsFrom !== 'service') return config;
  const place = { baseUrl, apiKey: secrets.chatApiKey ?? '', headers: commonHeaders(readChatCatalog(config, secrets)) };
  const offered = await listModels({ ...place, limits: LIST_LIMITS, signal });
  return offered === undefined ? config : withModels(config, offered);
}

/**
 * The same for a command that runs once: the files of `config/` may then refer to the listed models only. A service that is
 * away, or a faulty MODELS_FILE, leaves the configuration as it is; other checks report these.
 */
export async function withModelsToday(config: Config, secrets: Secrets): Promise<Config> {
  const listed = await withListedModels(config, secrets).catch(() => config);
  return listed === config ? config : { ...listed, chat: { ...listed.chat, modelsFrom: 'settings' } };
}

/**
 * Models of MODELS_FILE come first, in its order, under their names there. The others follow by name, because services list
 * their models in any order.
 */
function withModels(config: Config, offered: readonly string[]): Config {
  const { model, isModelNamed, fallbackModel } = config.chat;
  const usable = chatModelNames(offered);
  const described = readCatalog(config).entries.filter(({ upstream }) => usable.includes(upstream));
  const others = usable.filter((name) => described.every(({ upstream }) => upstream !== name)).toSorted();
  const found = [...described.map(({ name }) => name), ...others];
  const [first] = found;
  if (first === undefined) return config;
  // A named model stays available even if the list lacks it, because lists may be incomplete. `npm run check` reports it.
  const named = [isModelNamed ? model : undefined, fallbackModel].filter((name) => name !== undefined);
  const models = [...new Set([...found, ...named])];
  return { ...config, chat: { ...config.chat, models, model: isModelNamed ? model : first } };
}

interface ListedModelsOptions {
  config: Config;
  secrets: Secrets;
  /** Undefined if another part of this process reports. */
  log: Log | undefined;
}

/**
 * The models of a running process. If the chat service is away at the start, it is asked again until it lists its models.
 * Meanwhile, for at most two minutes, questions wait.
 */
export class ListedModels {
  readonly #options: ListedModelsOptions;
  readonly #closing = new AbortController();
  readonly #settled = new Deferred();
  #config: Config;
  #isListed = false;
  #onChange: () => void = () => undefined;

  constructor(options: ListedModelsOptions) {
    this.#options = options;
    this.#config = options.config;
    if (options.config.chat.modelsFrom === 'service') inBackground(() => this.#askUntilListed());
    else this.#settled.resolve();
  }

  /** The configuration with the models known so far. */
  get config(): Config {
    return this.#config;
  }

  /** The configuration for a process that this one starts: it need not request the list again. */
  get configForChild(): Config {
    return this.#isListed ? { ...this.#config, chat: { ...this.#config.chat, modelsFrom: 'parent' } } : this.#config;
  }

  /** Settles once questions may be answered: the models are known, or the wait for them is over. Never rejects. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** @param listener called when the models change, apart from `refresh` */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Requests the list again. If that fails, the known models stay. */
  async refresh(): Promise<void> {
    await this.#ask().catch(() => undefined);
  }

  close(): void {
    this.#closing.abort();
    this.#settled.resolve();
  }

  async #ask(): Promise<boolean> {
    const { config, secrets } = this.#options;
    const { signal } = this.#closing;
    const before = this.#config.chat;
    const listed = await withListedModels(config, secrets, signal);
    if (signal.aborted) return false;
    this.#config = listed;
    this.#isListed = true;
    return listed.chat.models.join() !== before.models.join() || listed.chat.model !== before.model;
  }

  async #askUntilListed(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    let pauseMs = ASK_AGAIN_MS;
    const endHold = () => {
      pauseMs = ASK_LATER_MS;
      this.#settled.resolve();
    };
    const hold = setTimeout(endHold, HOLD_MS).unref();
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        if (await this.#ask()) this.#onChange();
        if (tries > 0) log?.info({ models: this.#config.chat.models.length }, 'the chat service has listed its models');
        break;
      } catch (thrown) {
        const error = asError(thrown);
        // Without the error itself: at a start, a person reads a sentence and no stack.
        const reason = error instanceof ChatError ? error.code : error.name;
        if (tries === 0) log?.warn({ reason }, 'the chat service has not listed its models; trying again');
        // A refused key or a broken list does not mend itself soon, and the question may be answered nevertheless.
        if (!(error instanceof ChatError && error.isRetryable)) endHold();
        await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
    clearTimeout(hold);
    this.#settled.resolve();
  }
}
