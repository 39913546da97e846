import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const RESTRICTED = [
  { selector: 'ExportDefaultDeclaration', message: 'Export by name: one name for one thing everywhere.' },
];

const SET_PLAINLY =
  'Set an optional field plainly (`x` or `x: … : undefined`); where an absent key counts, use `definedOnly`.';

/** What src writes plainly: fields that may be absent. */
const OPTIONAL_FIELDS = [
  {
    selector:
      'ConditionalExpression[consequent.type="ObjectExpression"][consequent.properties.length>0] > ObjectExpression.alternate[properties.length=0]',
    message: SET_PLAINLY,
  },
  {
    selector:
      'ConditionalExpression[alternate.type="ObjectExpression"][alternate.properties.length>0] > ObjectExpression.consequent[properties.length=0]',
    message: SET_PLAINLY,
  },
  { selector: 'ObjectExpression > SpreadElement > LogicalExpression[operator="&&"]', message: SET_PLAINLY },
  {
    selector: 'TSPropertySignature[optional=true] > TSTypeAnnotation > TSUnionType > TSUndefinedKeyword',
    message: 'An optional field may be undefined as it is: `x?: T`.',
  },
];

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
      // There are no enums, and this rule is the slowest.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Koa's middleware and ports may be async without awaiting anything.
      '@typescript-eslint/require-await': 'off',
      // `void` in front of a call that returns nothing of use reads well in one line.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // With noUncheckedIndexedAccess an assertion after a check is sometimes the clearest form, in either spelling.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // Ports are object literals over closures, so their functions may be taken out and passed on.
      '@typescript-eslint/unbound-method': 'off',
      // A caught failure that is kept and thrown again later is `unknown`.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      // Spreading a text into its code points is exactly what our cuts and masks want.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true, varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Index signatures are marked by brackets, so that a reader sees what may be absent.
      '@typescript-eslint/dot-notation': 'off',
      'no-restricted-syntax': ['error', ...RESTRICTED],
      'no-console': 'error',
      eqeqeq: 'error',
      'no-useless-rename': 'error',
      'object-shorthand': ['error', 'properties'],
    },
  },
  {
    // The page runs in a browser and has a compiler configuration of its own.
    files: ['src/simulator/web/**'],
    languageOptions: { parserOptions: { projectService: false, project: 'tsconfig.page.json' } },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    rules: { 'no-restricted-syntax': ['error', ...RESTRICTED, ...OPTIONAL_FIELDS] },
  },
  {
    // A rejection that nobody hears ends the process. `inBackground` is how a deliberate fire-and-forget is written.
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    ignores: ['src/simulator/web/**'],
    rules: { '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }] },
  },
  {
    files: ['test/**/*.ts', 'test/**/*.tsx'],
    rules: {
      // Answers parsed from JSON are compared as they are.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
    },
  },
);
