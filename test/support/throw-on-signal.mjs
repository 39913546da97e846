// Loaded into a process before it starts (`node --import`): SIGUSR2 causes an uncaught exception.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('boom with access_token=canary-token-0123456789 and sk-canary0123456789');
  });
});
