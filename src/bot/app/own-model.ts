import { saveOwnModel, readOwnModel, type OwnModel } from './local/own-model-file.ts';
import type {
  EngineSearch,
  LocalControls,
  ModelFault,
  ModelView,
  ModelRequest,
} from '../../simulator/local-controls.ts';
import type { Config, Secrets } from '../config/config.ts';
import { findEngines } from './find-engines.ts';
import { tryOwnModel } from './try-own-model.ts';

interface OwnModelOptions {
  config: Config;
  /** Replaces the worker by one with the current settings. @throws Error when it does not start */
  restartWorker(): Promise<void>;
}

type ModelControls = Pick<LocalControls, 'model' | 'useModel' | 'findEngines' | 'useBuiltInModel'>;

/**
 * Lets a person switch between their own model and the built-in one at runtime. An address in the settings takes precedence.
 */
export function ownModelControls({ config, restartWorker }: OwnModelOptions): ModelControls {
  const { dataDir } = config.local;
  /** Serialises the changes. */
  let changing = Promise.resolve();
  const inTurn = <Result>(change: () => Promise<Result>): Promise<Result> => {
    const result = changing.then(change);
    changing = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  };
  const change = async (own: OwnModel | undefined): Promise<ModelFault | undefined> => {
    const before = readOwnModel(dataDir);
    saveOwnModel(dataDir, own);
    try {
      await restartWorker();
      return undefined;
    } catch {
      // The previous model continues to answer, and the next worker starts with it.
      saveOwnModel(dataDir, before);
      return { code: 'not_started' };
    }
  };
  /** Shared by pages that look at the same time. */
  let search: Promise<EngineSearch> | undefined;
  return {
    model: () => viewOf(config, readOwnModel(dataDir)),
    useModel: (request: ModelRequest) =>
      inTurn(async () => {
        const tried = await tryOwnModel(request);
        return 'fault' in tried ? tried.fault : change(tried.own);
      }),
    findEngines: () => (search ??= findEngines(config).finally(() => (search = undefined))),
    useBuiltInModel: () =>
      inTurn(async () => {
        if (readOwnModel(dataDir)) await change(undefined);
      }),
  };
}

function viewOf({ chat, embedded }: Config, own: OwnModel | undefined): ModelView {
  if (!embedded.chat) return { kind: 'settings', host: new URL(chat.baseUrl).host, model: chat.model };
  return own ? { kind: 'own', host: new URL(own.baseUrl).host, model: own.model } : { kind: 'built-in' };
}

/** The settings of a worker, with the model that the person connected instead of the built-in one. */
export function withOwnModel(config: Config, secrets: Secrets): { config: Config; secrets: Secrets } {
  const own = config.embedded.chat ? readOwnModel(config.local.dataDir) : undefined;
  if (!own) return { config, secrets };
  const { baseUrl, model, models = [model] } = own;
  const chat = { ...config.chat, baseUrl, model, models, fallbackModel: undefined };
  return { config: { ...config, chat }, secrets: { ...secrets, chatApiKey: own.apiKey } };
}
