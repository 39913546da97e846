import { test } from '@jest/globals';
import { usePushedFixture } from './pushed-fixture.ts';
import { answerWith, CODES, expectOneWhole, MODES } from './refusals-fixture.ts';

const fixture = usePushedFixture();
const EDITS = '^chat\\.(?:appendStream|update)$';
const TEXTS = '^chat\\.(?!delete|stopStream)';

/**
 * Every write at every position, refused once, three times or permanently, with every code, and with a worker that dies at
 * every call.
 */
test.each(
  MODES.flatMap((mode) =>
    CODES.flatMap((error) =>
      [1, 3, Number.POSITIVE_INFINITY].flatMap((times) =>
        [0, 1, 2, 3].flatMap((from) =>
          [undefined, 0, 1, 2, 3, 4].flatMap((call) =>
            (call === undefined ? [undefined] : (['before', 'after'] as const)).flatMap((when) =>
              [EDITS, TEXTS].map((methods) => ({ mode, error, times, from, call, when, methods })),
            ),
          ),
        ),
      ),
    ),
  ),
)(
  '$mode: shows one whole answer when $methods is refused from write $from on, $times time(s) with $error, and the worker dies $when call $call [refused-writes]',
  async ({ mode, error, times, from, call, when, methods }) => {
    const death = call === undefined || when === undefined ? undefined : { call, when };
    await answerWith(fixture, mode, { from, times, error, methods: new RegExp(methods) }, death);
    expectOneWhole(fixture);
  },
  60_000,
);
