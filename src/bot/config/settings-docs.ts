import { renderEnvExample, renderSettingsPage } from './describe-settings.ts';

/** A file that is generated from the schema. */
export interface GeneratedFile {
  path: string;
  /** Renders the file's text. */
  render(): string;
}

/** All files that `npm run settings:docs` writes. A test checks that they are up to date. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'config/.env.example', render: renderEnvExample },
  { path: 'docs/SETTINGS.md', render: () => renderSettingsPage('en') },
  { path: 'docs/zh-CN/SETTINGS.md', render: () => renderSettingsPage('zh') },
];
