/** Values that are recognised wherever they are in a line. */
const FORMS: Readonly<Record<string, RegExp>> = {
  WECOM_BOT_ID: /^aib/,
  WECOM_CORP_ID: /^w[wx]/,
  WECOM_AGENT_ID: /^\d+$/,
  SLACK_BOT_TOKEN: /^xoxb-/,
  SLACK_APP_TOKEN: /^xapp-/,
  SLACK_CLIENT_ID: /^\d+\.\d+$/,
};

/** The values of a typed line, and the words that belong to the next question. */
interface TypedLine {
  values: Readonly<Record<string, string>>;
  rest: readonly string[];
}

/**
 * Distributes the words of a line over settings: first those with a known form, then the others in their order.
 * @param isContinued whether further words belong to the next question; by default they belong to the last value
 */
export function readLine(line: string, settings: readonly string[], isContinued = false): TypedLine {
  const [only] = settings;
  if (settings.length === 1 && only !== undefined && !isContinued) return { values: { [only]: line }, rest: [] };
  const words = line.split(/\s+/).filter((word) => word !== '');
  const values: Record<string, string> = {};
  for (const name of settings) {
    const index = words.findIndex((word) => FORMS[name]?.test(word) === true);
    if (index !== -1) values[name] = words.splice(index, 1)[0] ?? '';
  }
  const open = settings.filter((name) => values[name] === undefined);
  for (const name of open) {
    const word = words.shift();
    if (word !== undefined) values[name] = word;
  }
  const last = open.at(-1);
  if (isContinued || last === undefined || words.length === 0) return { values, rest: words };
  return { values: { ...values, [last]: [values[last], ...words].join(' ') }, rest: [] };
}
