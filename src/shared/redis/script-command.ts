import { Command, type Cluster, type Redis } from 'ioredis';
import type { ScriptCall } from './script-call.ts';

/** A script as Redis knows it. */
export interface StoredScript {
  source: string;
  sha1: string;
  /** Connections that have received the source. */
  knownTo: WeakSet<object>;
}

/**
 * A call of a script: over a connection that has received the source, only its SHA-1. ioredis does the same for its own
 * script commands, but copies and flattens the arguments of each call, which costs as much as writing them.
 */
export class ScriptCommand extends Command {
  readonly #script: StoredScript;

  constructor(script: StoredScript, [keyCount, ...values]: ScriptCall) {
    super('evalsha', [], { replyEncoding: 'utf8' });
    this.#script = script;
    this.args = [script.sha1, keyCount, ...values];
    this.stringifyArguments();
  }

  get source(): string {
    return this.#script.source;
  }

  override toWritable(socket: object): string | Buffer {
    const { source, sha1, knownTo } = this.#script;
    const isKnown = knownTo.has(socket);
    if (!isKnown) knownTo.add(socket);
    this.name = isKnown ? 'evalsha' : 'eval';
    this.args[0] = isKnown ? sha1 : source;
    const { reject } = this;
    this.reject = (error) => {
      if (isMissing(error)) knownTo.delete(socket);
      reject.call(this, error);
    };
    return super.toWritable(socket);
  }
}

/** @returns the reply. A script that Redis has lost is sent again once. @throws any error of the connection */
export function callScript(redis: Redis | Cluster, script: StoredScript, call: ScriptCall): Promise<unknown> {
  const send = () => redis.sendCommand(new ScriptCommand(script, call)) as Promise<unknown>;
  return send().catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return send();
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOSCRIPT');
}
