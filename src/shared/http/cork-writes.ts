import { Cluster, type Redis } from 'ioredis';

/**
 * Sends all commands of one event loop turn in a single write: under load a write costs more than the command in it. The
 * order is preserved, and no command waits longer than that turn.
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
    // Undefined before the first connection.
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
