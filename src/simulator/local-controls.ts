/** What became of the worker process that the page ended. */
export interface WorkerView {
  killedProcessId: number;
  killedAtMs: number;
  /** The process in its place, once it takes turns. */
  next?: {
    processId: number;
    /** From the kill on. Milliseconds. */
    afterMs: number;
    /** How many answers under way it took over. */
    takenOver: number;
  };
}

/** Whose model answers. Never its key. */
export type ModelView =
  | { kind: 'built-in' }
  /** Connected on the page. */
  | { kind: 'own'; host: string; model: string }
  /** Named by the settings, which go first. */
  | { kind: 'settings'; host: string; model: string };

/** What a person connects: an address that speaks the OpenAI interface, the key that it asks for, one of its models. */
export interface ModelRequest {
  address: string;
  apiKey: string;
  /** The first that answers, unless named. */
  model?: string;
}

/** Why a model is not used, for the page to say in a sentence. */
export interface ModelFault {
  code:
    | 'address'
    | 'insecure'
    | 'key_form'
    | 'unreachable'
    | 'key'
    | 'not_found'
    | 'name_model'
    | 'busy'
    | 'refused'
    | 'no_answer'
    | 'not_started';
  /** A status or a system's code; nothing that the service wrote. */
  detail?: string;
}

/**
 * What the messenger's page may do to the Parley it is part of. Local mode alone gives it: whoever reaches the page is the person
 * who started it.
 */
export interface LocalControls {
  /** Ends the worker process by `kill -9`. @returns undefined when none runs, or when the last one was ended a moment ago */
  killWorker(): WorkerView | undefined;
  /** Tells of each process that has taken the place of a killed one. @returns ends the telling */
  onWorker(listener: (view: WorkerView) => void): () => void;
  model(): ModelView;
  /** Tries a model, and lets it answer from now on if it works. @returns what is wrong, if something is */
  useModel(request: ModelRequest): Promise<ModelFault | undefined>;
  /** The built-in model answers from now on. */
  useBuiltInModel(): Promise<void>;
}
