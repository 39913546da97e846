import Router from '@koa/router';
import { z } from 'zod';
import type { LocalControls } from '../local-controls.ts';
import { MessengerError } from '../messenger-error.ts';

const modelRequest = z.object({
  address: z.string().max(2_048),
  apiKey: z.string().max(4_096),
  model: z.string().min(1).max(200).optional(),
});

/** Endpoints with which the page controls its own Parley. Protected like the rest of the page's API. */
export function localApi(controls: LocalControls): Router {
  const router = new Router({ prefix: '/api/local' });
  router.post('/worker/kill', (context) => {
    const killed = controls.killWorker();
    if (!killed) throw new MessengerError('too_soon', 'The worker was just ended; wait a few seconds');
    context.status = 202;
    context.body = killed;
  });
  router.get('/model', (context) => {
    context.set('Cache-Control', 'no-store');
    context.body = controls.model();
  });
  router.post('/model', async (context) => {
    const request = modelRequest.safeParse(context.request.body);
    if (!request.success || controls.model().kind === 'settings')
      throw new MessengerError('bad_request', 'The request is invalid');
    const fault = await controls.useModel(request.data);
    context.status = fault ? 422 : 200;
    context.body = fault ? { fault } : controls.model();
  });
  // A POST, because it causes requests: other sites can cause a GET.
  router.post('/engines', async (context) => {
    context.body = await controls.findEngines();
  });
  router.delete('/model', async (context) => {
    await controls.useBuiltInModel();
    context.body = controls.model();
  });
  return router;
}
