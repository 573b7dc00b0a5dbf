import type { Sql } from 'postgres'
import type { EngineLog } from './types'

/**
 * Notifies other processes through a channel of the database, one notification at a time: whatever rings meanwhile gets
 * one more after it. A lost notification costs them the time until they look by themselves.
 */
export class Bell {
  private ringing = false
  private again = false

  constructor(
    private readonly sql: Sql,
    private readonly channel: string,
    private readonly log: EngineLog,
  ) {}

  ring(): void {
    if (this.ringing) {
      this.again = true
      return
    }
    this.ringing = true
    this.sql`select pg_notify(${this.channel}, '')`
      .then(
        () => undefined,
        (error: unknown) => this.log.debug({ error }, 'a notification was lost'),
      )
      .finally(() => {
        this.ringing = false
        if (!this.again) return
        this.again = false
        this.ring()
      })
  }
}
