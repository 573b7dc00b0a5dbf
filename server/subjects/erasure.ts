import { createHash } from 'node:crypto'
import { isUnavailable } from '@/db/deadline'
import { record } from '../audit/record'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { SubjectCounts } from './count'

/** How long one call works. The next call continues. */
const BUDGET_MS = 20_000

/** One call of a deletion, in transactions of their own. */
export class Erasure {
  readonly deleted: SubjectCounts = { runs: 0, files: 0, threads: 0, events: 0, idempotencyKeys: 0 }
  private readonly begun = performance.now()
  private noted = false

  constructor(
    readonly ctx: ServiceContext,
    readonly sub: string,
  ) {}

  isLate(): boolean {
    return performance.now() - this.begun > BUDGET_MS
  }

  /**
   * Deletes in a transaction. The first that deletes something also writes the entry of the audit log, so neither is there
   * without the other.
   * @returns how much it deleted
   */
  async delete(work: (tx: TransactionContext) => Promise<Partial<SubjectCounts>>): Promise<Partial<SubjectCounts>> {
    const gone = await withTransaction(this.ctx, async (tx) => {
      const gone = await work(tx)
      if (!this.noted && Object.values(gone).some((count) => count > 0)) await this.record(tx, {})
      return gone
    })
    for (const [what, count] of Object.entries(gone)) {
      if (count > 0) this.noted = true
      this.deleted[what as keyof SubjectCounts] += count
    }
    return gone
  }

  /** Writes what this call deleted, once nothing is left. */
  async finish(): Promise<void> {
    if (this.noted) await withTransaction(this.ctx, (tx) => this.record(tx, { ...this.deleted }))
  }

  /** Names a digest, not the subject. */
  private record(tx: TransactionContext, details: Partial<SubjectCounts>): Promise<void> {
    const id = `sha256:${createHash('sha256').update(this.sub).digest('hex')}`
    return record(tx, 'subject.deleted', { id, name: 'Data of a subject' }, details)
  }

  /**
   * Works through ids in pieces. A piece that takes too long is tried again one by one, and the next ones grow again: each
   * may have any number of rows.
   * @param reduce makes one smaller that takes too long alone; false if there was nothing to do
   * @returns false if there was no time for all
   */
  async inPieces(
    ids: readonly string[],
    most: number,
    work: (piece: string[]) => Promise<unknown>,
    reduce: (id: string) => Promise<boolean> = async () => false,
  ): Promise<boolean> {
    let size = most
    for (let at = 0; at < ids.length; ) {
      if (this.isLate()) return false
      const piece = ids.slice(at, at + size)
      try {
        await work(piece)
      } catch (err) {
        if (!isUnavailable(err)) throw err
        if (piece.length === 1 && !(await reduce(piece[0] ?? ''))) throw err
        size = 1
        continue
      }
      at += piece.length
      size = Math.min(most, size * 2)
    }
    return true
  }
}
