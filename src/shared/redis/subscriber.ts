import { randomInt } from 'node:crypto';
import { Redis, type Cluster } from 'ioredis';
import type { RedisClient } from './redis.ts';

export interface SubscriberOptions {
  channel: string;
  /** Called with each message; must not throw. */
  onMessage(text: string): void;
  /** Called each time that the subscription stands: what was said before was not heard. */
  onReady?(): void;
}

/** Pause before another node of a cluster is tried. */
const NEXT_NODE_MS = 100;

/**
 * Hears what scripts publish, over a connection of its own, since one that subscribes can send nothing else. Subscribes again
 * after each reconnect.
 * @param redis the connection is duplicated from it
 * @returns ends the hearing
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
  // A connection that does not wait for Redis refuses commands before it stands.
  subscriber.on('ready', begin);
  return subscriber;
}

/**
 * A cluster publishes on all its nodes, so that any one will do. ioredis' own subscriber of clusters is not used: it adds a listener to
 * a closed socket for each node that it tries in vain, and does not tell that it has subscribed again.
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
  // A node that has left the cluster hears nothing any more.
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
