import { join } from 'node:path'
import { isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import { socketUrl } from '@/db/url'
import { type Env, EnvError } from '@/server/env'

/**
 * The database of the service with this environment, which must be running when it is the embedded one.
 * @throws EnvError
 */
export function findDatabase(env: Env): string {
  if (env.DATABASE_URL) return env.DATABASE_URL
  const dataDir = join(env.dataDir, 'postgres')
  const found = readPidFile(dataDir)
  if (!found || !isPostmaster(found.pid, dataDir)) {
    throw new EnvError(`No database is running for ${env.dataDir}: start the service first, or set DATABASE_URL.`)
  }
  if (!found.socketDir) throw new EnvError('Set DATABASE_URL: the embedded database has no socket on this system.')
  return socketUrl('millrace', 'millrace', found.socketDir)
}
