import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Typed rules over src and test; the scripts are plain JavaScript and get the untyped ones. */
export default defineConfig(
  globalIgnores(['dist/', 'dist-*/', 'data/', 'coverage/']),
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers and booleans in templates read well and cannot surprise.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // Koa's middleware and ports may be async without awaiting anything.
      '@typescript-eslint/require-await': 'off',
      // `void promise` is how a deliberate fire-and-forget is written.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // With noUncheckedIndexedAccess an assertion after a check is sometimes the clearest form.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Index signatures are marked by brackets, so that a reader sees what may be absent.
      '@typescript-eslint/dot-notation': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export by name: one name for one thing everywhere.' },
      ],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['test/**/*.ts', 'test/**/*.tsx'],
    rules: {
      // `expect(x.method)` and JSON answers are everyday in tests.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
    },
  },
);
