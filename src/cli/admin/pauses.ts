import { otherModels } from '../../bot/app/other-models.ts';
import { modelOf, readPauseTarget, type Pause, type PauseTarget } from '../../bot/domain/pause.ts';
import { beginPause, endPause, readPauses } from '../../bot/turn/pauses/pause-store.ts';
import { wrongUse, type AdminArguments, type RunAdmin } from './admin-context.ts';

/** `admin pause`: takes effect in all processes at once, and lasts until `admin resume`. */
export const pause: RunAdmin = async ({ config, secrets, redis, nowMs }, args) => {
  const target = targetOf(args);
  const model = modelOf(target);
  const models = model === undefined ? undefined : await otherModels(config, secrets, model);
  if (models) return wrongUse(`There is no model ${String(model)}. Models: ${models.join(', ')}`);
  const message = typeof args.options['message'] === 'string' ? args.options['message'].trim() : '';
  const begun: Pause = { target, message: message === '' ? undefined : message, sinceMs: nowMs() };
  await beginPause(redis, begun);
  return { data: asData(begun), text: `Paused: ${target}\n` };
};

/** `admin resume`. */
export const resume: RunAdmin = async ({ redis }, args) => {
  const target = targetOf(args);
  const wasPaused = await endPause(redis, target);
  return {
    outcome: wasPaused ? 'done' : 'not-found',
    data: { target, wasPaused },
    text: wasPaused ? `Resumed: ${target}\n` : `Not paused: ${target}\n`,
  };
};

/** `admin pauses`: all pauses, the oldest first. */
export const listPauses: RunAdmin = async ({ redis }) => {
  const pauses = await readPauses(redis);
  return { data: pauses.map(asData), text: pauses.length === 0 ? 'Nothing is paused\n' : pauses.map(lineOf).join('') };
};

function targetOf({ subject }: AdminArguments): PauseTarget {
  const target = readPauseTarget(subject);
  if (target === undefined) throw new TypeError('The command line accepts only targets');
  return target;
}

function asData({ target, message, sinceMs }: Pause): Record<string, unknown> {
  return { target, since: new Date(sinceMs).toISOString(), message };
}

function lineOf({ target, message, sinceMs }: Pause): string {
  const since = `${new Date(sinceMs).toISOString()}  ${target}`;
  return message === undefined ? `${since}\n` : `${since}  ${message}\n`;
}
