/**
 * The package only has types for its converters. Entries are separated by `|`, a character and its replacements by spaces.
 */
declare module 'opencc-js/dict/*' {
  const entries: string;
  // oxlint-disable-next-line house/no-default-export -- the package exports them so
  export default entries;
}
