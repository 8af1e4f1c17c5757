// Asks the program questions, in a worker. Every question has a slot, such as "answer" or "curve": a newer question of the same slot
// replaces an older one, so that a slider that moves faster than answers come never piles up work.
import type { Answers, Name, Problem, Reply, Request } from './protocol';
import type { FromWorker, ToWorker } from './worker';

/** The program said why it cannot answer. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** A question that was replaced by a newer one, or cancelled. */
export class Superseded extends Error {}

interface Task {
  slot: string;
  request: string;
  resolve(reply: unknown): void;
  reject(reason: Error): void;
}

let compiled: Promise<WebAssembly.Module> | undefined;

/** The program, compiled once for all workers. */
export function program(): Promise<WebAssembly.Module> {
  compiled ??= (async () => {
    const response = await fetch(new URL('dobrushin.wasm', document.baseURI));
    if (!response.ok) throw new Error(`dobrushin.wasm could not be loaded: ${response.status} ${response.statusText}`);
    // Compiling while it is loaded needs the right type, which some hosts do not know.
    return response.headers.get('Content-Type') === 'application/wasm'
      ? WebAssembly.compileStreaming(response)
      : WebAssembly.compile(await response.arrayBuffer());
  })();
  return compiled;
}

export class Engine {
  private worker: Worker | undefined;
  private running: (Task & { since: number }) | undefined;
  private waiting: Task[] = [];
  private starting = false;

  /** A question that runs for longer than this many milliseconds is stopped when a newer one of its slot comes. */
  constructor(private readonly patience: number) {}

  /** Asks a question; the promise fails with a [Refusal], or with [Superseded]. */
  ask<N extends Name>(slot: string, request: Request<N>): Promise<Answers[N]> {
    return new Promise<Answers[N]>((resolve, reject) => {
      this.drop(slot);
      this.waiting.push({
        slot,
        request: JSON.stringify(request),
        resolve: (reply) => resolve(reply as Answers[N]),
        reject,
      });
      if (this.running?.slot === slot && performance.now() - this.running.since > this.patience) this.stop();
      void this.next();
    });
  }

  /** Forgets the question of a slot, and stops it if it is being answered. */
  cancel(slot: string): void {
    this.drop(slot);
    if (this.running?.slot === slot) this.stop();
    void this.next();
  }

  private drop(slot: string): void {
    const dropped = this.waiting.filter((task) => task.slot === slot);
    this.waiting = this.waiting.filter((task) => task.slot !== slot);
    for (const task of dropped) task.reject(new Superseded('a newer question came'));
  }

  /** A worker can only be stopped as a whole; the compiled module makes the next one cheap. */
  private stop(): void {
    this.worker?.terminate();
    this.worker = undefined;
    const stopped = this.running;
    this.running = undefined;
    stopped?.reject(new Superseded('stopped'));
  }

  private async next(): Promise<void> {
    if (this.running || this.starting || this.waiting.length === 0) return;
    if (!this.worker) {
      this.starting = true;
      try {
        this.worker = this.started(await program());
      } catch (error) {
        compiled = undefined;
        const failed = this.waiting.splice(0);
        for (const task of failed) task.reject(error as Error);
        return;
      } finally {
        this.starting = false;
      }
    }
    const task = this.waiting.shift();
    if (!task) return;
    this.running = { ...task, since: performance.now() };
    this.worker.postMessage({ request: task.request } satisfies ToWorker);
  }

  private started(module: WebAssembly.Module): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (worker === this.worker) this.finish(data);
    };
    worker.onerror = (event) => {
      if (worker === this.worker) this.finish({ trapped: event.message || 'the worker could not be started' });
    };
    worker.postMessage({ module } satisfies ToWorker);
    return worker;
  }

  private finish(message: FromWorker): void {
    const task = this.running;
    this.running = undefined;
    if ('trapped' in message) {
      this.worker?.terminate();
      this.worker = undefined;
      task?.reject(new Refusal({ message: `the program stopped: ${message.trapped}`, help: 'this is a mistake of the program' }));
    } else {
      const reply = JSON.parse(message.reply) as Reply;
      if ('ok' in reply) task?.resolve(reply.ok);
      else task?.reject(new Refusal(reply.error));
    }
    void this.next();
  }
}

/** Answers what the person looks at: short questions. A moving slider lets most of them finish, so that numbers move with it. */
export const front = new Engine(600);
/** Answers plots of the run, so that they never keep the answer waiting. */
export const back = new Engine(50);
/** Finds the floor. */
export const below = new Engine(50);
/** Answers what somebody asked for by a button. */
export const aside = new Engine(50);
