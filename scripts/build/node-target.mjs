/**
 * The language level of everything that Node runs. esbuild counts `\p{…}` as unsupported everywhere, because new Unicode
 * versions extend it, and would compile such an expression again at every use.
 */
export const NODE_TARGET = { target: 'node20', supported: { 'regexp-unicode-property-escapes': true } };
