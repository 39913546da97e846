import type { ModelFault, ModelView, ModelRequest, WorkerView } from '../../local-controls.ts';
import { ApiError, callJson } from '../api-client.ts';

/** Ends the bot's worker by `kill -9`. @throws ApiError `rate_limited` right after another one */
export function killWorker(): Promise<WorkerView> {
  return callJson('POST', '/api/local/worker/kill');
}

/** Whose model answers. @throws ApiError */
export function fetchModel(): Promise<ModelView> {
  return callJson('GET', '/api/local/model');
}

/** Back to the built-in model. @throws ApiError */
export function chooseBuiltIn(): Promise<ModelView> {
  return callJson('DELETE', '/api/local/model');
}

/** Tries a model, which may take as long as a slow one needs for a word. @throws ApiError when Parley itself cannot be reached */
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
