import type { Sql } from 'postgres'
import type { EngineLog, Room } from './types'

/** Maximum age of a reading while jobs are queued, and of one that may fail a start. */
const FRESH_MS = 1_000
const REFUSING_MS = 250

/**
 * The number of jobs waiting to be claimed, by lane, as far as this process knows: its last reading plus what it has
 * queued since. It reads only while jobs wait, at most once a second, and nobody waits for the reading.
 */
export class Backlog {
  private lanes = new Map<string, number>()
  private total = 0
  /** Queued since the current reading began, which may not include it. */
  private unseen: (string | null)[] = []
  private readAt = Number.NEGATIVE_INFINITY
  private reading: Promise<void> | undefined
  /** Functions that callers asked about: jobs of other functions do not count. */
  private readonly counted = new Set<string>()

  constructor(
    private readonly sql: Sql,
    private readonly log: EngineLog,
    /** Maximum number of waiting jobs; 0 for any number. */
    private readonly most: number,
  ) {}

  /** A lane may have at most as many jobs waiting as it leaves room for others. */
  room(functionId: string, lane: string | null): Room {
    this.counted.add(functionId)
    if (this.most === 0 || this.total === 0) return 'free'
    // An old reading refuses no start once the queue has emptied.
    const outdated = !this.reading && performance.now() - this.readAt > 2 * FRESH_MS
    const mine = this.lanes.get(lane ?? '') ?? 0
    const room = this.total >= this.most ? 'full' : mine >= this.most - this.total ? 'lane full' : 'free'
    this.refresh(room === 'free' ? FRESH_MS : REFUSING_MS)
    return outdated ? 'free' : room
  }

  /** A job was queued that nobody has claimed. */
  queued(functionId: string, lane: string | null): void {
    if (this.most === 0 || !this.counted.has(functionId)) return
    this.count(lane, 1)
    if (this.reading) this.unseen.push(lane)
    else this.refresh(FRESH_MS)
  }

  /** Settles when no reading is in flight. */
  async settled(): Promise<void> {
    await this.reading
  }

  private count(lane: string | null, by: number): void {
    this.lanes.set(lane ?? '', (this.lanes.get(lane ?? '') ?? 0) + by)
    this.total += by
  }

  private refresh(afterMs: number): void {
    if (this.reading || performance.now() - this.readAt < afterMs) return
    this.reading = this.read()
      .catch((error: unknown) => this.log.debug({ error }, 'the length of the queue could not be read'))
      .finally(() => {
        this.readAt = performance.now()
        this.reading = undefined
        this.unseen = []
      })
  }

  private async read(): Promise<void> {
    // Beyond the limit, the exact number does not matter.
    const found = await this.sql<{ lane: string; waiting: number }[]>`
      select coalesce(lane, '') as lane, count(*)::int as waiting from (
        select lane from engine.jobs where owner is null and due_at <= now() and function_id = any(${[...this.counted]}) limit ${this.most}) j
      group by 1`
    this.lanes = new Map()
    this.total = 0
    for (const { lane, waiting } of found) this.count(lane, waiting)
    for (const lane of this.unseen) this.count(lane, 1)
  }
}
