import { renderEnvExample, renderSettingsTables } from './describe-settings.ts';

const BEGIN = '<!-- settings:begin -->';
const END = '<!-- settings:end -->';

/** A file that is made from the schema, wholly or in part. */
export interface GeneratedFile {
  path: string;
  /** The file's text as it should be, from what it is now. */
  render(present: string): string;
}

/** Everything that `npm run settings:docs` writes; a test checks that it was run. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'config/.env.example', render: renderEnvExample },
  { path: 'README.md', render: replaceTables },
];

/** Puts the tables between the README's two marks and leaves the rest alone. @throws when a mark is missing */
function replaceTables(readme: string): string {
  const [before, rest] = splitAt(readme, BEGIN);
  const [, after] = splitAt(rest, END);
  return `${before}${BEGIN}\n<!-- Made by npm run settings:docs from src/settings. -->\n\n${renderSettingsTables()}\n\n${END}${after}`;
}

function splitAt(text: string, mark: string): [before: string, after: string] {
  const position = text.indexOf(mark);
  if (position < 0) throw new Error(`README.md has lost its mark ${mark}`);
  return [text.slice(0, position), text.slice(position + mark.length)];
}
