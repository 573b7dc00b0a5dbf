import { connect, type Database } from '@/db/index'
import { EnvError, env } from './env'

/** This process's database. @throws EnvError when no DATABASE_URL is set: the launcher sets it for the embedded one. */
export function database(): Database {
  const { DATABASE_URL } = env()
  if (!DATABASE_URL)
    throw new EnvError('DATABASE_URL is missing: start the service with `npm start`, which brings its own database.')
  return connect(DATABASE_URL)
}
