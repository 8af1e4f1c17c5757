// A question whose answer is shown: the last answer stays until a newer one comes, also when the newer question has an error.
import { Refusal, Superseded, type Engine } from './engine';
import type { Answers, Name, Problem, Request } from './protocol';

/** A wait that is shorter than this is not shown. */
const NOTICEABLE = 150;

export class Question<N extends Name> {
  /** The last answer. */
  answer = $state.raw<Answers[N] | undefined>();
  /** Why there is no answer to the last question. */
  problem = $state.raw<Problem | undefined>();
  /** Whether an answer is awaited, for long enough to say so. */
  slow = $state(false);
  /** Whether an answer is awaited. */
  busy = $state(false);
  /** Whether the person stopped it. */
  cancelled = $state(false);
  private latest = 0;
  private shown = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly engine: Engine,
    readonly slot: string,
  ) {}

  async ask(request: Request<N>): Promise<Answers[N] | undefined> {
    const turn = ++this.latest;
    this.begin();
    try {
      const answer = await this.engine.ask(this.slot, request);
      // While a slider moves, answers on the way are shown as well; nobody waits for them.
      if (turn > this.shown) {
        this.shown = turn;
        this.answer = answer;
        this.problem = undefined;
      }
      return turn === this.latest ? answer : undefined;
    } catch (error) {
      if (turn !== this.latest || error instanceof Superseded) return undefined;
      this.problem = error instanceof Refusal ? error.problem : { message: String((error as Error).message ?? error) };
      return undefined;
    } finally {
      if (turn === this.latest) this.end();
    }
  }

  /** Stops it, as somebody wished. */
  cancel(): void {
    this.abandon();
    this.cancelled = true;
  }

  /** Stops it, because nobody needs the answer any more. */
  abandon(): void {
    this.shown = ++this.latest;
    this.engine.cancel(this.slot);
    this.end();
  }

  /** Forgets the answer as well. */
  clear(): void {
    this.abandon();
    this.cancelled = false;
    this.answer = undefined;
    this.problem = undefined;
  }

  private begin(): void {
    this.busy = true;
    this.cancelled = false;
    this.timer ??= setTimeout(() => (this.slow = this.busy), NOTICEABLE);
  }

  private end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.busy = false;
    this.slow = false;
  }
}
