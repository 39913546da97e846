import type { Config, Secrets } from '../config/config.ts';
import { withModelsToday } from './listed-models.ts';
import { modelsToRefer } from './models.ts';
import { withOwnModel } from './own-model.ts';

/**
 * The models that exist, if none of them has this name. Undefined if one has, or if the chat service, which lists them, does not
 * answer within five seconds.
 */
export async function otherModels(
  config: Config,
  secrets: Secrets,
  name: string,
): Promise<readonly string[] | undefined> {
  const own = withOwnModel(config, secrets);
  const { chat } = await withModelsToday(own.config, own.secrets);
  const models = modelsToRefer(chat);
  return models?.includes(name) === false ? models : undefined;
}
