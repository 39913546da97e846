import { useCallback, useState } from 'preact/hooks';
import { uploadFile, uploadImage, type Upload } from './api-client.ts';
import { MIB_BYTES } from '../../shared/clock.ts';
import { MAX_IMAGE_BYTES } from '../api.ts';
import { fileFault, imageFault, isImage, MAX_IMAGES } from './image-choice.ts';
import { usePage } from './page-context.ts';

/** An image or file of an unsent message; `upload` is set once the server has it. */
export interface Attachment {
  key: string;
  name: string;
  /** For a file other than an image. Bytes. */
  fileBytes?: number;
  upload?: Upload;
}

/** An attachment that the server has. */
export type ReadyAttachment = Attachment & Required<Pick<Attachment, 'upload'>>;

/** Attachments of all conversations, for the lifetime of the page. */
const kept = new Map<string, Attachment[]>();

/**
 * Images and files of one draft: added by button, paste or drop, and uploaded immediately.
 * @param mustQuoteFiles whether the bot receives a file of this conversation only when a message quotes it; the person is
 * then told so
 */
export function useAttachments(draftKey: string, mustQuoteFiles: boolean) {
  const { say, notify } = usePage();
  const [attachments, setAttachments] = useState<Attachment[]>(() => kept.get(draftKey) ?? []);

  const edit = useCallback(
    (change: (before: Attachment[]) => Attachment[]) => {
      const after = change(kept.get(draftKey) ?? []);
      kept.set(draftKey, after);
      setAttachments(after);
    },
    [draftKey],
  );

  const remove = useCallback((key: string) => edit((all) => all.filter((one) => one.key !== key)), [edit]);

  const add = useCallback(
    (files: readonly File[]) => {
      for (const file of files) {
        const isFile = !isImage(file);
        const same = (kept.get(draftKey) ?? []).filter(({ fileBytes }) => (fileBytes !== undefined) === isFile).length;
        const fault = isFile ? fileFault(file, same) : imageFault(file, same);
        if (fault !== undefined) {
          notify(say(fault, { size: MAX_IMAGE_BYTES / MIB_BYTES, count: MAX_IMAGES }));
          continue;
        }
        if (isFile && mustQuoteFiles) notify(say('fileInGroup'));
        const key = crypto.randomUUID();
        edit((all) => [...all, { key, name: file.name, fileBytes: isFile ? file.size : undefined }]);
        (isFile ? uploadFile(file) : uploadImage(file)).then(
          (upload) => edit((all) => all.map((one) => (one.key === key ? { ...one, upload } : one))),
          () => {
            remove(key);
            notify(say('uploadFailed', { name: file.name }));
          },
        );
      }
    },
    [draftKey, edit, remove, notify, say, mustQuoteFiles],
  );

  const clear = useCallback(() => edit(() => []), [edit]);
  return { attachments, add, remove, clear };
}
