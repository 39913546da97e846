import { chatModelNames } from '../model/chat-model-names.ts';
import { probeModels, probeAnswer, hasChoices, modelsIn } from '../model/probe-chat.ts';
import type { CheckAnswer } from '../../shared/http/check-request.ts';
import type { OwnModel } from './local/own-model-file.ts';
import type { ModelFault, ModelRequest } from '../../simulator/local-controls.ts';

export type TriedModel = { own: OwnModel } | { fault: ModelFault };

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;
/** Characters that a header accepts. */
const KEY = /^[\x21-\x7e]*$/;
const MAX_TRIES = 3;
/** A list that a person can choose from with `/model`. */
const MAX_MODELS = 100;

/**
 * Tries a chat service before it is saved, as `npm run check` does: its list of models, and one tiny answer of one of them.
 * The person who types the address runs Parley on this machine, so that any address is allowed; responses are judged and
 * never shown.
 */
export async function tryOwnModel({ address, apiKey, model }: ModelRequest): Promise<TriedModel> {
  const places = placesOf(address);
  if (typeof places === 'string') return { fault: { code: places } };
  if (!KEY.test(apiKey)) return { fault: { code: 'key_form' } };
  let fault: ModelFault = { code: 'not_found' };
  for (const baseUrl of places) {
    const tried = await tryPlace({ baseUrl, apiKey }, model);
    if ('own' in tried || tried.fault.code !== 'not_found') return tried;
    fault = tried.fault;
  }
  return { fault };
}

/** The address as given, and with `/v1`, which is easily forgotten. */
function placesOf(address: string): string[] | 'address' | 'insecure' {
  const text = address
    .trim()
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\/(chat\/completions|models)$/, '');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') return 'address';
  if (url.username !== '' || url.password !== '') return 'address';
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) return 'insecure';
  return /\/v\d+$/.test(url.pathname) ? [text] : [`${text}/v1`, text];
}

async function tryPlace(place: { baseUrl: string; apiKey: string }, chosen: string | undefined): Promise<TriedModel> {
  const list = await probeModels(place);
  const offered = list.status === 200 && 'body' in list ? modelsIn(list.body) : undefined;
  // A service without a list may still answer for a named model.
  if (!offered && ![200, 404, 405, 501].includes(list.status)) return { fault: faultOf(list) };
  const usable = chosen === undefined ? chatModelNames(offered ?? []) : [chosen];
  const models = usable.slice(0, MAX_TRIES);
  if (models.length === 0) return { fault: { code: list.status === 404 ? 'not_found' : 'name_model' } };
  let fault: ModelFault = { code: 'no_answer' };
  for (const model of models) {
    const answer = await probeAnswer(place, model);
    if ('body' in answer && answer.status === 200 && hasChoices(answer.body)) {
      return { own: { ...place, model, models: usable.slice(0, MAX_MODELS) } };
    }
    fault = answer.status === 200 ? { code: 'no_answer' } : faultOf(answer);
    if (fault.code === 'unreachable' || fault.code === 'key') break;
  }
  return { fault };
}

function faultOf(answer: CheckAnswer): ModelFault {
  if ('code' in answer) return { code: 'unreachable', detail: answer.code };
  const codes: Readonly<Record<number, ModelFault['code']>> = { 401: 'key', 403: 'key', 404: 'not_found', 429: 'busy' };
  return { code: codes[answer.status] ?? 'refused', detail: String(answer.status) };
}
