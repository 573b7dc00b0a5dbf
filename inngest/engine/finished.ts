import { setTimeout as sleep } from 'node:timers/promises'
import type { Claim, EngineContext } from './context'
import { rows } from './context'
import { messageOf } from './errors'
import { dropJob } from './jobs'
import { Tidy } from './tidy'

const TRIES = 5
const MAX = 500
/** How long jobs are collected before they are removed, so that runs ending in succession also share a commit. */
const LINGER_MS = 20
/** Maximum number of jobs per statement. */
const MANY = 32

/**
 * Removes the jobs of ended runs that have nothing left to write, in batches. Only a lane at its limit waits for it: a
 * job that is not removed runs again and finds nothing to do.
 */
export class Finished {
  private waiting: Claim[] = []
  private removing: Promise<void> | undefined
  private hurried = false
  private stopLingering = () => {}
  private readonly tidy: Tidy

  /** @param removed called when jobs have been removed @param awaited whether a lane at its limit waits for it */
  constructor(
    private readonly ctx: EngineContext,
    private readonly removed: () => void,
    private readonly awaited: () => boolean,
  ) {
    this.tidy = new Tidy(ctx)
  }

  add(claim: Claim): void {
    this.waiting.push(claim)
    if (this.waiting.length >= MANY) this.hurry()
    this.removing ??= this.removeAll().finally(() => {
      this.removing = undefined
    })
  }

  /** Settles when all jobs so far have been removed, or could not be. */
  async settled(): Promise<void> {
    this.hurry()
    await this.removing
  }

  /** Removes the collected jobs without waiting for more. */
  hurry(): void {
    this.hurried = true
    this.stopLingering()
  }

  private async linger(): Promise<void> {
    if (!this.hurried && !this.awaited()) {
      await new Promise<void>((done) => {
        const timer = setTimeout(done, LINGER_MS)
        this.stopLingering = () => {
          clearTimeout(timer)
          done()
        }
      })
    }
    this.stopLingering = () => {}
    this.hurried = false
  }

  private async removeAll(): Promise<void> {
    for (let failures = 0; this.waiting.length > 0; ) {
      await new Promise((next) => setImmediate(next))
      await this.linger()
      const batch = this.waiting.splice(0, MAX)
      try {
        await this.remove(batch)
        failures = 0
        this.tidy.note(batch.length)
        this.removed()
      } catch (error) {
        failures++
        this.ctx.log.debug({ error: messageOf(error), failures }, 'finished jobs could not be removed yet')
        if (failures === TRIES) return
        this.waiting.unshift(...batch)
        await sleep(100 * failures)
      }
    }
  }

  private async remove(batch: readonly Claim[]): Promise<void> {
    const [only] = batch
    if (only && batch.length === 1) return await dropJob(this.ctx, only)
    // All statements lock jobs in this order.
    const done = batch.map(({ jobId: id, generation }) => ({ id, generation })).sort((a, b) => (a.id < b.id ? -1 : 1))
    await this.ctx.byKey`
      delete from engine.jobs where id = any(array(
        select j.id from json_to_recordset(${rows(this.ctx, done)}) as d(id text, generation bigint)
        cross join lateral (
          select id from engine.jobs where id = d.id and generation = d.generation for update) j))`
  }
}
