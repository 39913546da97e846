/** The value of a cookie in a `Cookie` header; undefined if it is absent, malformed or present twice. */
export function cookieIn(header: string | undefined, name: string, form: RegExp): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && form.test(value) ? value : undefined;
}
