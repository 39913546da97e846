import { useState } from 'preact/hooks';

/** Accepts files dropped on an element; `over` is true while files are dragged over it. */
export function useImageDrop(take: (files: readonly File[]) => void) {
  const [over, setOver] = useState(false);
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  const handlers = {
    onDragOver(event: DragEvent) {
      if (!carriesFiles(event)) return;
      event.preventDefault(); // Otherwise the browser would navigate to the image.
      setOver(true);
    },
    onDragLeave(event: DragEvent) {
      const inside =
        event.currentTarget instanceof Node && event.currentTarget.contains(event.relatedTarget as Node | null);
      if (!inside) setOver(false);
    },
    onDrop(event: DragEvent) {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(false);
      take([...(event.dataTransfer?.files ?? [])]);
    },
  };
  return { over, handlers };
}
