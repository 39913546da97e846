import { useCallback, useState } from 'preact/hooks';
import { uploadImage, type Upload } from './api-client.ts';
import { MIB_BYTES } from '../../base/clock.ts';
import { MAX_IMAGE_BYTES } from '../api.ts';
import { imageFault, MAX_IMAGES } from './image-choice.ts';
import { usePage } from './page-context.ts';

/** An image beside an unsent text; `upload` is there once the server has it. */
export interface Attachment {
  key: string;
  name: string;
  upload?: Upload;
}

/** Attachments of conversations that are not open, as long as the page lives. */
const kept = new Map<string, Attachment[]>();

/** The images beside the text of one draft: added by button, paste or drop, uploaded at once. */
export function useAttachments(draftKey: string) {
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
        const fault = imageFault(file, (kept.get(draftKey) ?? []).length);
        if (fault !== undefined) {
          notify(say(fault, { size: MAX_IMAGE_BYTES / MIB_BYTES, count: MAX_IMAGES }));
          continue;
        }
        const key = crypto.randomUUID();
        edit((all) => [...all, { key, name: file.name }]);
        uploadImage(file).then(
          (upload) => edit((all) => all.map((one) => (one.key === key ? { ...one, upload } : one))),
          () => {
            remove(key);
            notify(say('uploadFailed'));
          },
        );
      }
    },
    [draftKey, edit, remove, notify, say],
  );

  const clear = useCallback(() => edit(() => []), [edit]);
  return { attachments, add, remove, clear };
}
