// A worker process for tests of its supervisor: it behaves as `mood` in its settings says, and otherwise reports ready with
// one turn for each dead worker in its task.
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
