import { CodedError } from '../../../shared/coded-error.ts';

/**
 * Local mode cannot start: another Parley uses the same data directory, the directory is not writable, or the keys in it
 * cannot be read.
 */
export class LocalError extends CodedError<'data_dir_in_use' | 'data_dir_unusable' | 'local_keys_broken'> {}
