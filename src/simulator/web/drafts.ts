/** The part of the browser's Storage that drafts use. */
export interface DraftStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Unsent texts, one per person and conversation. */
export interface Drafts {
  /** The stored text, or an empty one. */
  read(person: string, conversationId: string): string;
  /** Stores a text; an empty one removes the draft. */
  write(person: string, conversationId: string, text: string): void;
}

/**
 * Drafts in the browser's storage. If storage is full or forbidden they last until the page is reloaded, which is better
 * than a composer that does not work.
 */
export function createDrafts(storage: DraftStorage | undefined): Drafts {
  const memory = new Map<string, string>();
  return {
    read(person, conversationId) {
      const key = keyOf(person, conversationId);
      return memory.get(key) ?? readStored(storage, key) ?? '';
    },
    write(person, conversationId, text) {
      const key = keyOf(person, conversationId);
      memory.set(key, text);
      try {
        if (text === '') storage?.removeItem(key);
        else storage?.setItem(key, text);
      } catch {
        // The in-memory copy remains.
      }
    },
  };
}

function readStored(storage: DraftStorage | undefined, key: string): string | null {
  try {
    return storage?.getItem(key) ?? null;
  } catch {
    return null;
  }
}

/** Both ids are escaped, so that different pairs never share a key. */
function keyOf(person: string, conversationId: string): string {
  return `draft/${encodeURIComponent(person)}/${encodeURIComponent(conversationId)}`;
}
