// Speaks like a worker process. The word that it is given to run decides how it stops answering.
process.on('message', (message) => {
  if (message.kind === 'begin') process.send({ kind: 'ready', takenOver: 0 });
  if (message.kind === 'ask') process.send({ kind: 'answer', id: message.id, value: 0 });
  if (message.kind === 'run' && message.conversation === 'spin') for (;;);
  if (message.kind === 'run' && message.conversation === 'suspend') process.kill(process.pid, 'SIGSTOP');
});
process.send({ kind: 'here' });
