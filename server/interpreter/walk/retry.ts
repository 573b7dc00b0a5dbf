import type { ServiceContext } from '../../context'
import { classify } from '../flow/failure'

const PATIENCE_MS = 10_000

/** Retries while the database is unavailable: the work is done, and repeating it is worse than waiting. */
export async function retryWhileUnavailable<T>(ctx: ServiceContext, write: () => Promise<T>): Promise<T> {
  const started = performance.now()
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await write()
    } catch (err) {
      if (!classify(err).transient || performance.now() - started > PATIENCE_MS) throw err
      ctx.log.warn({ err }, 'the database is not available; trying to store the result again')
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
