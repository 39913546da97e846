import { jest } from '@jest/globals';

/** CI's machines have other work at times: what fails there is printed, and tried once more. On a developer's machine it fails. */
if (process.env['CI']) jest.retryTimes(1, { logErrorsBeforeRetry: true });
