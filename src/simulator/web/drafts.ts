/** The part of the browser's Storage that drafts need. */
export interface DraftStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Unsent texts, one per person and conversation. */
export interface Drafts {
  /** The kept text, or an empty one. */
  read(person: string, conversationId: string): string;
  /** Keeps a text; an empty one removes the draft. */
  write(person: string, conversationId: string, text: string): void;
}

/**
 * Drafts in the browser's storage. When storage is full or forbidden they live as long as the page:
 * losing a draft on reload is better than a composer that does not work.
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
        // The copy in memory stays.
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

/** Both ids are escaped, so that no two pairs of ids share a key. */
function keyOf(person: string, conversationId: string): string {
  return `draft/${encodeURIComponent(person)}/${encodeURIComponent(conversationId)}`;
}
