import { answerFields, bareName, restName, type ScriptShape } from './script-shape.ts';

/**
 * What a script that calls it is given: the time by Redis' clock, the only one that all processes share; milliseconds. Lua and
 * Redis write such a number as the digits that it has.
 */
const REDIS_NOW_MS = `local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * What a script that calls it is given: a name for the history of writes that this Redis stands for. One that took over from
 * another, or that began from its files, has another name. Empty where it is not told.
 */
const REDIS_HISTORY = `local function redisHistory()
  local told = redis.pcall('INFO', 'replication')
  return type(told) == 'string' and string.match(told, 'master_replid:(%w+)') or ''
end
`;

/**
 * The text of a script as Redis gets it: `keys.NAME` and `args.NAME` stand for the places that the shape states, so that names
 * cost Redis nothing; before it comes what the script may call.
 * @param name of the script, which its first line tells
 * @throws Error for a name that the shape does not state
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
  // Lua reads JSON's numbers and plain strings as its own.
  const constants = Object.entries(shape.constants ?? {});
  const locals = constants.map(([constant, value]) => `local ${constant} = ${JSON.stringify(value)}\n`);
  const helpers = [
    script.includes('redisNowMs()') ? REDIS_NOW_MS : '',
    script.includes('redisHistory()') ? REDIS_HISTORY : '',
    answerHelper(shape),
  ];
  return [`-- ${name}.lua\n`, ...locals, ...rests, ...helpers, body].join('');
}

/** An answer ends at the first nil, so that what is missing is `false`. */
function answerHelper(shape: ScriptShape): string {
  const fields = Object.entries(answerFields(shape) ?? {});
  if (fields.length === 0) return '';
  const values = fields.map(([name, kind]) =>
    kind === '...texts' ? `unpack(of.${name} or {})` : `of.${name} or false`,
  );
  return `local function answer(of) return {${values.join(', ')}} end\n`;
}
