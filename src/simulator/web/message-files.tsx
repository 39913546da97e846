import type { FileChip, MessageView } from '../api.ts';
import { Icon } from './icon.tsx';

const KIB = 1024;

/** A file with its name and size. */
export function FileChipView({ name, sizeBytes }: FileChip) {
  return (
    <span class="file-chip" title={name}>
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {name}
      </span>
      <span class="file-size">{sizeWords(sizeBytes)}</span>
    </span>
  );
}

/** A message's files, one below the other. */
export function MessageFiles({ files }: { files: readonly FileChip[] }) {
  return (
    <div class="files">
      {files.map((file, index) => (
        <FileChipView key={index} {...file} />
      ))}
    </div>
  );
}

/** Text for quoting a message; for a file, its name. */
export function quotedWords({ text, files = [] }: Pick<MessageView, 'text' | 'files'>): string {
  return text === '' ? files.map(({ name }) => name).join(', ') : text;
}

/** Units, the same in both languages. */
export function sizeWords(bytes: number): string {
  if (bytes < KIB) return `${bytes} B`;
  return bytes < KIB * KIB ? `${Math.round(bytes / KIB)} KB` : `${(bytes / KIB / KIB).toFixed(1)} MB`;
}
