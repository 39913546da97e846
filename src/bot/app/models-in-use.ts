import type { Config, Secrets } from '../config/config.ts';
import { withModelsToday } from './listed-models.ts';
import { modelsToRefer } from './models.ts';
import { withOwnModel } from './own-model.ts';

/** Names of the models that answer now. Undefined if the chat service, which lists them, is away. */
export async function modelsInUse(config: Config, secrets: Secrets): Promise<readonly string[] | undefined> {
  const own = withOwnModel(config, secrets);
  const { chat } = await withModelsToday(own.config, own.secrets);
  return modelsToRefer(chat);
}
