// A worker process for tests of who keeps it running: it does as the mood in its settings says, and is else ready with as many turns
// as it was told of dead workers.
process.on('message', (message) => {
  if (message.kind === 'begin') {
    const { config, deadNames } = message.task;
    if (config.mood === 'fails') process.send({ kind: 'failed', message: 'It was told to fail' });
    else if (config.mood === 'ends') process.exit(1);
    else process.send({ kind: 'ready', takenOver: deadNames.length });
  } else if (message.kind === 'ask') {
    const value = message.question === 'running' ? 7 : Buffer.isBuffer(message);
    if (message.question !== 'metrics') process.send({ kind: 'answer', id: message.id, value });
  } else process.exit(0);
});
process.on('disconnect', () => process.exit(1));
process.send({ kind: 'here' });
