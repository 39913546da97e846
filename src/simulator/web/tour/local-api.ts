import type { EngineSearch, ModelFault, ModelView, ModelRequest, WorkerView } from '../../local-controls.ts';
import { ApiError, callJson } from '../api-client.ts';

/** Kills the bot's worker with `kill -9`. @throws ApiError `rate_limited` right after another kill */
export function killWorker(): Promise<WorkerView> {
  return callJson('POST', '/api/local/worker/kill');
}

/** The model in use. @throws ApiError */
export function fetchModel(): Promise<ModelView> {
  return callJson('GET', '/api/local/model');
}

/** Switches back to the built-in model. @throws ApiError */
export function chooseBuiltIn(): Promise<ModelView> {
  return callJson('DELETE', '/api/local/model');
}

/** Looks for chat engines on this computer, which takes a few seconds at most. @throws ApiError */
export function searchEngines(): Promise<EngineSearch> {
  return callJson('POST', '/api/local/engines');
}

/** Tests a model, which takes as long as a slow model needs for a word. @throws ApiError if Parley itself is unreachable */
export async function connectModel(request: ModelRequest): Promise<ModelView | { fault: ModelFault }> {
  try {
    const response = await fetch('/api/local/model', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    if (response.ok || response.status === 422) return (await response.json()) as ModelView | { fault: ModelFault };
  } catch (error) {
    throw new ApiError('unreachable', undefined, error);
  }
  throw new ApiError('refused');
}
