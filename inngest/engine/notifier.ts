import type { Sql } from 'postgres'
import type { EngineLog } from './types'

/**
 * Notifies other processes through a channel of the database, one notification at a time: concurrent calls share the
 * next one. If a notification is lost, the others find the work when they next poll.
 */
export class Notifier {
  private notifying = false
  private again = false

  constructor(
    private readonly sql: Sql,
    private readonly channel: string,
    private readonly log: EngineLog,
  ) {}

  notify(): void {
    if (this.notifying) {
      this.again = true
      return
    }
    this.notifying = true
    this.sql`select pg_notify(${this.channel}, '')`
      .then(
        () => undefined,
        (error: unknown) => this.log.debug({ error }, 'a notification was lost'),
      )
      .finally(() => {
        this.notifying = false
        if (!this.again) return
        this.again = false
        this.notify()
      })
  }
}
