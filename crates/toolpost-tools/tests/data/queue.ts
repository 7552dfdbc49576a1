import { EventEmitter } from 'events';

export type JobState = 'waiting' | 'running' | 'done' | 'failed';

export interface Job<T> {
  id: string;
  payload: T;
  attempts: number;
  state: JobState;
  error?: string;
}

export interface QueueOptions {
  concurrency: number;
  maxAttempts?: number;
  backoff?: (attempt: number) => number;
}

const defaultBackoff = (attempt: number): number => Math.min(1000 * 2 ** attempt, 30_000);

/** Runs jobs with bounded concurrency; failed ones again, later and later. */
export class Queue<T> extends EventEmitter {
  private readonly waiting: Job<T>[] = [];
  private running = 0;
  private closed = false;

  constructor(
    private readonly work: (payload: T) => Promise<void>,
    private readonly options: QueueOptions,
  ) {
    super();
    if (options.concurrency < 1) {
      throw new RangeError(`concurrency must be at least 1, got ${options.concurrency}`);
    }
  }

  add(id: string, payload: T): Job<T> {
    if (this.closed) {
      throw new Error('the queue is closed');
    }
    const job: Job<T> = { id, payload, attempts: 0, state: 'waiting' };
    this.waiting.push(job);
    this.next();
    return job;
  }

  async close(): Promise<void> {
    this.closed = true;
    while (this.running > 0 || this.waiting.length > 0) {
      await new Promise((resolve) => this.once('settled', resolve));
    }
  }

  private next(): void {
    while (this.running < this.options.concurrency) {
      const job = this.waiting.shift();
      if (!job) return;
      this.running += 1;
      job.state = 'running';
      void this.run(job).finally(() => {
        this.running -= 1;
        this.emit('settled', job);
        this.next();
      });
    }
  }

  private async run(job: Job<T>): Promise<void> {
    job.attempts += 1;
    try {
      await this.work(job.payload);
      job.state = 'done';
    } catch (error) {
      job.error = error instanceof Error ? error.message : String(error);
      if (job.attempts >= (this.options.maxAttempts ?? 3)) {
        job.state = 'failed';
        return;
      }
      job.state = 'waiting';
      const delay = (this.options.backoff ?? defaultBackoff)(job.attempts);
      setTimeout(() => {
        this.waiting.push(job);
        this.next();
      }, delay);
    }
  }
}
