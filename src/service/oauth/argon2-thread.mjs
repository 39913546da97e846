// Compares one password with an argon2 hash in a separate thread, because it blocks the thread for hundreds of milliseconds.
// Plain JavaScript, so that it runs from src/ and from dist/.
import { parentPort, workerData } from 'node:worker_threads';
import { argon2Verify } from 'hash-wasm';

parentPort.postMessage(await argon2Verify({ password: workerData.typed, hash: workerData.stored }));
