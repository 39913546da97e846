import { Cluster, type Redis } from 'ioredis';

/**
 * Lets all commands that are sent within one turn of the event loop leave in one write: under load a write costs more than
 * the command in it. The order stays, and nothing waits longer than until that turn's events are handled.
 */
export function corkWrites(client: Redis | Cluster): void {
  if (client instanceof Cluster) client.on('+node', gatherOnNode);
  else gatherOnNode(client);
}

function gatherOnNode(node: Redis): void {
  const send = node.sendCommand.bind(node);
  let isGathering = false;
  node.sendCommand = (command, stream) => {
    const socket = node.stream;
    // Absent before the first connection is made.
    if (!isGathering && (socket as typeof socket | undefined)?.writable) {
      isGathering = true;
      socket.cork();
      setImmediate(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    return send(command, stream);
  };
}
