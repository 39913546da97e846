// Rules of this project that oxlint does not have. They read only the syntax.

/** Reports every node that matches one of the selectors. */
const forbid = (messagesBySelector) => ({
  create: (context) =>
    Object.fromEntries(
      Object.entries(messagesBySelector).map(([selector, message]) => [
        selector,
        (node) => context.report({ node, message }),
      ]),
    ),
});

const SET_PLAINLY =
  'Set an optional field plainly (`x` or `x: … : undefined`); where an absent key counts, use `definedOnly`.';

export default {
  meta: { name: 'house' },
  rules: {
    'no-default-export': forbid({
      ExportDefaultDeclaration: 'Export by name: one name for one thing everywhere.',
    }),
    'no-abort-signal-timeout': forbid({
      'MemberExpression[object.name="AbortSignal"][property.name="timeout"]':
        'Node 20 may collect it before its time: use `abortAfter`.',
    }),
    'plain-optional-fields': forbid({
      'ConditionalExpression[consequent.type="ObjectExpression"][consequent.properties.length>0] > ObjectExpression.alternate[properties.length=0]':
        SET_PLAINLY,
      'ConditionalExpression[alternate.type="ObjectExpression"][alternate.properties.length>0] > ObjectExpression.consequent[properties.length=0]':
        SET_PLAINLY,
      'ObjectExpression > SpreadElement > LogicalExpression[operator="&&"]': SET_PLAINLY,
      'TSPropertySignature[optional=true] > TSTypeAnnotation > TSUnionType > TSUndefinedKeyword':
        'An optional field may be undefined as it is: `x?: T`.',
    }),
  },
};
