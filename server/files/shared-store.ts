import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { files } from '@/db/schema/files'
import { installation } from '@/db/schema/installation'
import type { ServiceContext } from '../context'
import { env } from '../env'
import { AppError } from '../errors'
import { fileStore, otherStore } from '../host/installation'

/**
 * Prevents a change of the service's storage until the transaction ends. Processes that started before the first file
 * may each have noted a storage of their own: the first upload decides.
 * @throws AppError UNAVAILABLE if this process stores files elsewhere than the existing ones
 */
export async function holdFileStore(db: Tx, log: ServiceContext['log']): Promise<void> {
  const store = ownStore()
  const [same] = await db
    .select({ is: sql`1` })
    .from(installation)
    .where(eq(installation.fileStore, store ?? ''))
    .for('share')
  if (same) return
  await db.insert(installation).values({ id: true }).onConflictDoNothing()
  const [noted] = await db.select({ store: installation.fileStore }).from(installation).for('update')
  const [any] = noted?.store === store ? [] : await db.select({ is: sql`1` }).from(files).limit(1)
  if (any && noted?.store != null) throw elsewhere(log)
  await db.update(installation).set({ fileStore: store })
}

/** @throws AppError UNAVAILABLE if this process stores files elsewhere than the others */
export async function requireSharedStore(db: Db | Tx, log: ServiceContext['log']): Promise<void> {
  const [noted] = await db.select({ store: installation.fileStore }).from(installation)
  if (noted?.store != null && noted.store !== ownStore()) throw elsewhere(log)
}

/** @throws AppError UNAVAILABLE */
function ownStore(): string | null {
  try {
    return fileStore(env())
  } catch (cause) {
    // The folder can be neither read nor created.
    throw new AppError('UNAVAILABLE', { cause, headers: { 'retry-after': '5' } })
  }
}

function elsewhere(log: ServiceContext['log']): AppError {
  log.error({}, otherStore(env()))
  return new AppError('UNAVAILABLE', {
    details: [{ message: 'The processes of this service do not share their files. The log of the service says more.' }],
  })
}
