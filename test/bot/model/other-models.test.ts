import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createModelCatalog } from '../../../src/shared/models/model-catalog.ts';
import { parseModelsFile } from '../../../src/shared/models/models-file.ts';
import { startChatFixture, type ChatFixture } from './chat-fixture.ts';
import { helloStream } from './scripted-chat-server.ts';

let fixture: ChatFixture;
beforeAll(async () => {
  fixture = await startChatFixture();
});
afterAll(() => fixture.stop());

test('a client keeps its model catalog while a client for a new catalog uses the new names', async () => {
  fixture.server.script(helloStream('Hello.'));
  const later = fixture.client.withCatalog(
    createModelCatalog(parseModelsFile(JSON.stringify([{ name: 'svc-plus', upstream: 'renamed' }]))),
  );
  const request = { model: 'svc-plus', messages: [{ role: 'user' as const, content: 'One' }] };
  const { signal } = new AbortController();
  await later.stream(request, signal, () => undefined);
  await fixture.client.stream(request, signal, () => undefined);
  expect(fixture.server.calls.map(({ body }) => body['model'])).toEqual(['renamed', 'svc-plus']);
});
