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

/** A chat engine on this computer that needs no key. */
export interface EngineView {
  /** Its product name. Undefined for an engine that is not recognized. */
  name?: string;
  address: string;
  /** Empty if it has not loaded or downloaded any. */
  models: string[];
}

/** What was found on this computer, and where it was looked for. */
export interface EngineSearch {
  engines: EngineView[];
  /** `engine`: the engine that usually listens there. `isOurs`: Parley itself listens there, so that it was not asked. */
  ports: { port: number; engine?: string; isOurs: boolean }[];
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
  /** Looks for chat engines on this computer, once and for a few seconds at most. */
  findEngines(): Promise<EngineSearch>;
  /** Switches back to the built-in model. */
  useBuiltInModel(): Promise<void>;
}
