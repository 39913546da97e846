// Loaded into a process before it starts (`node --import`): SIGUSR2 blocks its event loop for two seconds.
const BLOCKED_MS = 2_000;
process.on('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS));
