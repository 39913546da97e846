import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessageView } from '../api.ts';
import { IconButton } from './icon.tsx';
import { usePage } from './page-context.ts';

type ShownImage = MessageView['images'][number];

/** A message's images as tiles; a press enlarges one. */
export function MessageImages({ images }: { images: readonly ShownImage[] }) {
  const { say } = usePage();
  const [shown, setShown] = useState<ShownImage | undefined>(undefined);
  const nameOf = (image: ShownImage) =>
    image.alt ||
    (images.length === 1 ? say('image') : say('imageOf', { number: images.indexOf(image) + 1, count: images.length }));
  return (
    <div class="images" data-count={images.length}>
      {images.map((image) => (
        <button
          key={image.url}
          type="button"
          class="image-tile"
          aria-label={say('openImage', { name: nameOf(image) })}
          onClick={() => setShown(image)}
        >
          <img src={image.url} alt={nameOf(image)} loading="lazy" />
        </button>
      ))}
      {shown && <Lightbox image={shown} name={nameOf(shown)} onClose={() => setShown(undefined)} />}
    </div>
  );
}

/** One image over the whole page. Escape, the button or a press outside the image closes it and focuses the tile again. */
function Lightbox({ image, name, onClose }: { image: ShownImage; name: string; onClose(): void }) {
  const { say } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="lightbox"
      aria-label={name}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
    >
      <img src={image.url} alt={name} />
      <IconButton icon="close" label={say('close')} class="lightbox-close" onPress={() => dialog.current?.close()} />
    </dialog>
  );
}
