import { randomInt } from 'node:crypto';
import { Redis, type Cluster } from 'ioredis';
import type { RedisClient } from './redis.ts';

export interface SubscriberOptions {
  channel: string;
  /** Called with each message. Must not throw. */
  onMessage(text: string): void;
  /** Called each time that the subscription is established. Earlier messages were not received. */
  onReady?(): void;
}

/** Pause before the next cluster node is tried. */
const NEXT_NODE_MS = 100;

/**
 * Receives the messages that scripts publish, over a separate connection, because a subscribed connection cannot send other
 * commands. Subscribes again after each reconnect.
 * @param redis is duplicated for the connection
 * @returns a function that ends the subscription
 */
export function subscribe(redis: RedisClient, options: SubscriberOptions): () => void {
  if (!(redis instanceof Redis)) return subscribeOnAnyNode(redis, options);
  const subscriber = hear(redis.duplicate(), options);
  return () => subscriber.disconnect();
}

function hear(subscriber: Redis, { channel, onMessage, onReady }: SubscriberOptions): Redis {
  subscriber.on('error', () => undefined);
  subscriber.on('message', (_channel: string, text: string) => onMessage(text));
  const begin = () => {
    subscriber.subscribe(channel).then(
      () => onReady?.(),
      () => undefined,
    );
  };
  // A fail-fast connection refuses commands before it is established.
  subscriber.on('ready', begin);
  return subscriber;
}

/**
 * A cluster publishes on all nodes, so any node will do. The cluster subscriber of ioredis is not used: it adds a listener
 * to a closed socket for each node that it fails to reach, and does not report that it has subscribed again.
 */
function subscribeOnAnyNode(cluster: Cluster, options: SubscriberOptions): () => void {
  let subscriber: Redis | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const takeNode = () => {
    const nodes = cluster.nodes();
    const node = nodes.length > 0 ? nodes[randomInt(nodes.length)] : undefined;
    if (!node) return takeNodeLater();
    subscriber = hear(node.duplicate({ lazyConnect: false, retryStrategy: () => null }), options);
    subscriber.once('end', takeNodeLater);
  };
  const takeNodeLater = () => {
    subscriber = undefined;
    if (!isEnded) timer = setTimeout(takeNode, NEXT_NODE_MS).unref();
  };
  // A node that has left the cluster receives no messages.
  const nodeLeft = ({ options: left }: Redis) => {
    const isOurs = subscriber?.options.host === left.host && subscriber?.options.port === left.port;
    if (isOurs) subscriber?.disconnect();
  };
  cluster.on('-node', nodeLeft);
  takeNode();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    cluster.off('-node', nodeLeft);
    subscriber?.disconnect();
  };
}
