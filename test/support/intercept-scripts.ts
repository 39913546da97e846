import type { Command } from 'ioredis';
import type { RedisClient } from '../../src/shared/redis/redis.ts';
import { ScriptCommand } from '../../src/shared/redis/script-command.ts';

/** The number of keys, the keys and the arguments of a script. */
export type ScriptArguments = [keyCount: number, ...keysAndArgs: (string | Buffer | number)[]];

/** Runs each script of the program through `run`, which gets its source and arguments and returns the reply. */
export function interceptScripts(
  redis: RedisClient,
  run: (source: string, args: ScriptArguments) => Promise<unknown>,
): void {
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command: Command, ...more: never[]) =>
    command instanceof ScriptCommand
      ? run(command.source, command.args.slice(1) as ScriptArguments)
      : send(command, ...more);
}
