import { join } from 'node:path'
import { isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import { socketUrl } from '@/db/url'
import { type Env, EnvError } from '@/server/env'

/**
 * The URL of the service's database. The embedded one must be running.
 * @throws EnvError
 */
export function findDatabase(env: Env): string {
  if (env.directUrl) return env.directUrl
  // Vercel's own command writes it empty.
  if (env.VERCEL) throw new EnvError('DATABASE_URL is missing. How to set it for a command: docs/vercel.md, Commands.')
  const dataDir = join(env.dataDir, 'postgres')
  const found = readPidFile(dataDir)
  if (!found || !isPostmaster(found.pid, dataDir)) {
    throw new EnvError(`No database is running in ${env.dataDir}. Start the service first, or set DATABASE_URL.`)
  }
  if (!found.socketDir)
    throw new EnvError('Set DATABASE_URL: on this system, commands cannot find the embedded database.')
  return socketUrl('millrace', 'millrace', found.socketDir)
}
