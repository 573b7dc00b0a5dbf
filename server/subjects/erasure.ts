import { createHash } from 'node:crypto'
import { isUnavailable } from '@/db/deadline'
import { record } from '../audit/record'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { SubjectCounts } from './count'

/** The time budget of one call. The next call continues. */
const BUDGET_MS = 20_000

/** One call of a deletion, in several transactions. */
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
   * Deletes in a transaction. The first that deletes something also writes the audit entry, so neither exists without
   * the other.
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

  /** Records this call's deletions, once nothing is left. */
  async finish(): Promise<void> {
    if (this.noted) await withTransaction(this.ctx, (tx) => this.record(tx, { ...this.deleted }))
  }

  /** Records a digest, not the subject. */
  private record(tx: TransactionContext, details: Partial<SubjectCounts>): Promise<void> {
    const id = `sha256:${createHash('sha256').update(this.sub).digest('hex')}`
    return record(tx, 'subject.deleted', { id, name: 'Data of a subject' }, details)
  }

  /**
   * Works through ids in batches, as each may have any number of rows. A batch that takes too long is retried one by
   * one, and the next ones grow again.
   * @param reduce shrinks an item that alone takes too long; false if it had nothing to delete
   * @returns false if it ran out of time
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
