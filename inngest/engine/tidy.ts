import type { EngineContext } from './context'
import { messageOf } from './errors'

/** The queue is vacuumed after this many removed jobs. */
const EVERY = 2_000
/** A larger file is left to Postgres: usually most of its jobs wait, so a vacuum would read much and free little. */
const LARGEST_BYTES = 16 * 1024 * 1024

/**
 * Frees the space of removed jobs for the next ones. Postgres itself does that about once a minute; by then a busy
 * queue has grown by tens of thousands of rows, almost all dead.
 */
export class Tidy {
  private removed = 0
  private vacuuming = false

  constructor(private readonly ctx: Pick<EngineContext, 'sql' | 'log'>) {}

  /** Call with each number of removed jobs. */
  note(count: number): void {
    this.removed += count
    if (this.removed < EVERY || this.vacuuming) return
    this.removed = 0
    this.vacuuming = true
    void this.vacuum().finally(() => {
      this.vacuuming = false
    })
  }

  private async vacuum(): Promise<void> {
    const { sql, log } = this.ctx
    try {
      const [queue] = await sql`select pg_relation_size('engine.jobs') <= ${LARGEST_BYTES} as small`
      // Another process may be vacuuming already.
      if (queue?.small) await sql.unsafe('vacuum (skip_locked, truncate false) engine.jobs')
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'the queue could not be vacuumed')
    }
  }
}
