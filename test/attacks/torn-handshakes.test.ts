import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { open } from './raw-client.ts';

jest.setTimeout(60_000);

/** The request head of a WebSocket handshake. */
const handshake = (target: string, more = '') =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;
const ORIGIN = 'Origin: http://other.example\r\n';

describe.each([
  ['wecom', { WECOM_CONNECT: 'connection' }],
  ['slack', { SLACK_CONNECT: 'socket' }],
] as const)('WebSocket handshakes in local mode simulating %s', (protocol, connects) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-handshakes-'));
  let parley: ParleyProcess;
  let hasEnded = false;
  let messenger: string;

  beforeAll(async () => {
    const [PORT = '', SERVICE_PORT = '', MESSENGER_PORT = ''] = [
      await freePort(),
      await freePort(),
      await freePort(),
    ].map(String);
    messenger = `http://127.0.0.1:${MESSENGER_PORT}`;
    parley = await startParleyProcess({
      env: {
        ...{ PORT, SERVICE_PORT, MESSENGER_PORT, DATA_DIR: folder, SIGN_IN: 'off', ENV_FILE: '/dev/null' },
        ...{ MESSENGER_PROTOCOL: protocol, ...connects },
      },
      until: /Parley (is running|has started)/,
      ownGroup: true,
    });
    void parley.ended.then(() => (hasEnded = true));
  });
  afterAll(async () => {
    parley.kill('SIGTERM');
    await parley.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends a handshake and resets the connection without waiting for a response. */
  function breakOff(head: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(messenger).port), '127.0.0.1', () => {
        socket.write(head);
        socket.resetAndDestroy();
      });
      socket.on('error', () => undefined).once('close', () => resolve());
    });
  }

  test('Parley survives aborted handshakes, which a page of another site can cause [bounded-requests]', async () => {
    for (let round = 0; round < 20; round += 1)
      await Promise.all(
        Array.from({ length: 20 }, () => breakOff(handshake('/x', `${ORIGIN}X: ${'y'.repeat(2_000)}\r\n`))),
      );
    expect((await fetch(messenger)).status).toBeLessThan(500);
    expect(hasEnded).toBe(false);
  });

  test.each(['//', '//[', '/\\', '*', '/%', 'http://', 'http://[/'])(
    'Parley rejects a handshake at %j and keeps running [bounded-requests]',
    async (target) => {
      await (
        await open(messenger, handshake(target))
      ).closed;
      expect((await fetch(messenger)).status).toBeLessThan(500);
      expect(hasEnded).toBe(false);
    },
  );

  test('rejects a handshake from a page of another site before any lookup [bounded-requests]', async () => {
    for (const target of ['/', '/link', '/socket?ticket=x']) {
      const connection = await open(messenger, handshake(target, ORIGIN));
      await connection.closed;
      expect(connection.said()).toMatch(/^HTTP\/1\.1 403 /);
    }
  });
});
