// Compares one password with an argon2 hash, in a thread of its own: it takes hundreds of milliseconds in which nothing else
// runs there. Plain JavaScript, so that it runs from src/ and from dist/ alike.
import { parentPort, workerData } from 'node:worker_threads';
import { argon2Verify } from 'hash-wasm';

parentPort.postMessage(await argon2Verify({ password: workerData.typed, hash: workerData.stored }));
