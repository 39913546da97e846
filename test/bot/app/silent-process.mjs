// Speaks like a worker process. The word that it is given to run decides how it stops answering; `answer` ends the turn.
const COUNTS = [
  { name: 'turns', help: 'Turns', type: 'counter', values: [{ value: 2, labels: {} }], aggregator: 'sum' },
];
process.on('message', (message) => {
  if (message.kind === 'begin') process.send({ kind: 'ready', takenOver: 0 });
  if (message.kind === 'ask') process.send({ kind: 'answer', id: message.id, value: 0 });
  if (message.kind === 'run' && message.conversation === 'spin') for (;;);
  if (message.kind === 'run' && message.conversation === 'suspend') process.kill(process.pid, 'SIGSTOP');
  if (message.kind === 'run' && message.conversation === 'answer')
    process.send({ kind: 'left', conversationId: 'answer', counts: COUNTS });
});
process.send({ kind: 'here' });
