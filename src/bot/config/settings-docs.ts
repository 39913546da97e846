import { renderEnvExample, renderSettingsPage } from './describe-settings.ts';

/** A file that is made from the schema. */
export interface GeneratedFile {
  path: string;
  /** The file's text as it should be. */
  render(): string;
}

/** Everything that `npm run settings:docs` writes; a test checks that it was run. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'config/.env.example', render: renderEnvExample },
  { path: 'docs/SETTINGS.md', render: renderSettingsPage },
];
