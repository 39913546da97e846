import { keepOwnModel, readOwnModel, type OwnModel } from './local/own-model-file.ts';
import type { LocalControls, ModelFault, ModelView, ModelRequest } from '../../simulator/local-controls.ts';
import type { Config, Secrets } from '../config/config.ts';
import { tryOwnModel } from './try-own-model.ts';

interface OwnModelOptions {
  config: Config;
  /** Lets a worker with the settings of now take the other's place. @throws Error when it does not come up */
  restartWorker(): Promise<void>;
}

type ModelControls = Pick<LocalControls, 'model' | 'useModel' | 'useBuiltInModel'>;

/** Lets a person put a model of their own in the built-in one's place, and back, while all runs. An address in the settings goes first. */
export function ownModelControls({ config, restartWorker }: OwnModelOptions): ModelControls {
  const { dataDir } = config.local;
  /** One change at a time. */
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
    keepOwnModel(dataDir, own);
    try {
      await restartWorker();
      return undefined;
    } catch {
      // Whatever answered before goes on; the next worker begins with it.
      keepOwnModel(dataDir, before);
      return { code: 'not_started' };
    }
  };
  return {
    model: () => viewOf(config, readOwnModel(dataDir)),
    useModel: (request: ModelRequest) =>
      inTurn(async () => {
        const tried = await tryOwnModel(request);
        return 'fault' in tried ? tried.fault : change(tried.own);
      }),
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

/** The settings with which a worker answers: a model that its person connected stands in the built-in one's place. */
export function withOwnModel(config: Config, secrets: Secrets): { config: Config; secrets: Secrets } {
  const own = config.embedded.chat ? readOwnModel(config.local.dataDir) : undefined;
  if (!own) return { config, secrets };
  const { baseUrl, model } = own;
  const chat = { ...config.chat, baseUrl, model, models: [model], fallbackModel: undefined };
  return { config: { ...config, chat }, secrets: { ...secrets, chatApiKey: own.apiKey } };
}
