import { answerFields, bareName, restName, type ScriptShape } from './script-shape.ts';

/**
 * Provided to a script that calls it: the time in milliseconds by the Redis clock, the only clock that all processes share.
 * Lua and Redis print such numbers in full digits.
 */
const REDIS_NOW_MS = `local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * Provided to a script that calls it: the id of this Redis' replication history. It changes when a replica is promoted or
 * Redis restarts from its files. Empty if Redis does not reveal it. A plain search takes half the time of a pattern.
 */
const REDIS_HISTORY = `local function redisHistory()
  local told = redis.pcall('INFO', 'replication')
  if type(told) ~= 'string' then return '' end
  local _, before = string.find(told, 'master_replid:', 1, true)
  return before and string.match(told, '^%w+', before + 1) or ''
end
`;

/**
 * Source of a script as sent to Redis: `keys.NAME` and `args.NAME` are replaced by their positions in the shape, so that
 * names cost nothing in Redis. The functions that the script calls, and its libraries, are prepended.
 * @param name of the script, written into its first line
 * @throws Error for a name that the shape does not declare
 */
export function sourceOf(script: string, name: string, shape: ScriptShape): string {
  const tables = { keys: { places: 'KEYS', names: shape.keys }, args: { places: 'ARGV', names: shape.args ?? [] } };
  const body = script.replace(/\b(keys|args)\.(\w+)/g, (said, table: 'keys' | 'args', field: string) => {
    const { places, names } = tables[table];
    const at = names.findIndex((one) => bareName(one) === field);
    if (at === -1) throw new Error(`${name}.lua says ${said}, which its shape does not state`);
    return field === restName(names) ? `${table}_${field}` : `${places}[${at + 1}]`;
  });
  const rests = Object.entries(tables).map(([table, { places, names }]) => {
    const rest = restName(names);
    return rest === undefined ? '' : `local ${table}_${rest} = {unpack(${places}, ${names.length})}\n`;
  });
  const helpers = [
    script.includes('redisNowMs()') ? REDIS_NOW_MS : '',
    script.includes('redisHistory()') ? REDIS_HISTORY : '',
    answerHelper(shape),
  ];
  const libraries = (shape.libraries ?? []).flatMap(({ constants, source }) => [...localsOf(constants), source]);
  return [`-- ${name}.lua\n`, ...localsOf(shape.constants), ...rests, ...helpers, ...libraries, body].join('');
}

/** JSON numbers and plain strings are valid Lua literals. */
function localsOf(constants: ScriptShape['constants'] = {}): string[] {
  return Object.entries(constants).map(([name, value]) => `local ${name} = ${JSON.stringify(value)}\n`);
}

/** A Lua table in a reply ends at the first nil, so missing values are sent as `false`. */
function answerHelper(shape: ScriptShape): string {
  const fields = Object.entries(answerFields(shape) ?? {});
  if (fields.length === 0) return '';
  const values = fields.map(([name, kind]) =>
    kind === '...texts' ? `unpack(of.${name} or {})` : `of.${name} or false`,
  );
  return `local function answer(of) return {${values.join(', ')}} end\n`;
}
