import { expect } from '@jest/globals';
import type { RunningService } from '../../src/service/start-service.ts';
import { askChat } from './chat-client.ts';

export const user = (content: unknown): { role: string; content: unknown } => ({ role: 'user', content });

/** The smallest valid request. */
export const HELLO = { model: 'svc-max', messages: [user('hello')] };

export const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'The city' } },
      required: ['city'],
    },
  },
};

/** The weather tool declaration with changed fields in `function`; undefined removes a field. */
export function declare(changes: object): object {
  return { ...WEATHER, function: { ...WEATHER.function, ...changes } };
}

/** An image of 3 × 2 pixels. */
export const GIF = `data:image/gif;base64,${Buffer.from('474946383961030002008000000000000000002c000000000300020000020284005b003b', 'hex').toString('base64')}`;

/**
 * Expects a 400 response with the complete error object, whose `param` is the field name and whose message begins with it.
 */
export async function expectRefused(service: RunningService, body: object, param: string, be: string): Promise<void> {
  const answer = await askChat(service, body);
  expect(answer.body).toEqual({
    error: { message: `${param} ${be}`, type: 'invalid_request_error', param, code: 'invalid_value' },
  });
  expect(answer.status).toBe(400);
}
