/** State of a worker process that was killed from the page. */
export interface WorkerView {
  killedProcessId: number;
  killedAtMs: number;
  /** The replacement process, once it accepts turns. */
  next?: {
    processId: number;
    /** Milliseconds since the kill. */
    afterMs: number;
    /** Number of unfinished answers that it took over. */
    takenOver: number;
  };
}

/** The model in use. Never includes its key. */
export type ModelView =
  | { kind: 'built-in' }
  /** Connected on the page. */
  | { kind: 'own'; host: string; model: string }
  /** Configured by the settings, which take precedence. */
  | { kind: 'settings'; host: string; model: string };

/** A model to connect: the address of an OpenAI-compatible API, its key, and a model name. */
export interface ModelRequest {
  address: string;
  apiKey: string;
  /** Defaults to the first model that responds. */
  model?: string;
}

/** Why a model was not connected; the page turns it into a sentence. */
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
  /** A status or a system error code; never text from the service. */
  detail?: string;
}

/**
 * Control over the Parley that the messenger's page belongs to. Only in local mode, where only the person who started Parley
 * can open the page.
 */
export interface LocalControls {
  /** Kills the worker process with `kill -9`. @returns undefined if none is running, or the last kill was a moment ago */
  killWorker(): WorkerView | undefined;
  /** Calls the listener for each process that replaced a killed one. @returns a function that unsubscribes */
  onWorker(listener: (view: WorkerView) => void): () => void;
  model(): ModelView;
  /** Tests a model, and uses it from now on if it works. @returns the fault, if any */
  useModel(request: ModelRequest): Promise<ModelFault | undefined>;
  /** Switches back to the built-in model. */
  useBuiltInModel(): Promise<void>;
}
