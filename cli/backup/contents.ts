import '@/server/definition/zod-words'
import { resolve } from 'node:path'
import { z } from 'zod'

/** The first entry of every backup file. */
export const MANIFEST = 'millrace-backup.json'
export const Manifest = z.object({
  format: z.literal(1),
  madeAt: z.string(),
  /** The major version of Postgres. */
  postgres: z.string(),
  /** False if the service gets its key from ENCRYPTION_KEY. */
  holdsKey: z.boolean(),
})
export type Manifest = z.infer<typeof Manifest>

export const KEY_FILE = 'encryption.key'
/** Explains where the key that decrypts the vault is. */
export function whereIsKey({ holdsKey }: Manifest): string {
  return holdsKey ? 'in the backup' : 'not in the backup: the service needs the same ENCRYPTION_KEY'
}

/** A data folder's files that a service needs besides its database and its uploads. Older releases had a `host-id`. */
export const LOOSE_FILES = [KEY_FILE, 'credentials.json', 'host-id', 'setup-token', 'postgres.password']
/** The parts of a data folder that a restore replaces. */
export const RESTORED = ['postgres', 'files', ...LOOSE_FILES]

/** A path as the person typed it: npm changes the working directory. */
export function typedPath(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path)
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** Runs `work` with a signal that Ctrl+C aborts, so that it can clean up. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const onSignal = () => stop.abort(new Error('Interrupted. Nothing was changed.'))
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal)
  try {
    return await work(stop.signal)
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal)
  }
}
