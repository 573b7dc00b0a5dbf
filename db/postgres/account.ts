import { chownSync, existsSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, parse, sep } from 'node:path'

/**
 * The account that runs Postgres: the current user (undefined) or, because Postgres refuses to run as root, another.
 */
export type Account = { uid: number; gid: number } | undefined

const NOBODY = 65534

/** The account for a cluster. Root gives a new cluster to `nobody` and leaves an existing one with its owner. */
export function accountFor(dataDir: string): Account {
  if (process.getuid?.() !== 0) return undefined
  const owner = existsSync(dataDir) ? statSync(dataDir) : undefined
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : { uid: NOBODY, gid: NOBODY }
}

/** Creates a directory that only the account can enter. */
export function makePrivateDir(path: string, account: Account): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (!account) return
  try {
    chownSync(path, account.uid, account.gid)
  } catch {
    throw new Error(
      'Postgres refuses to run as root, and this root may not become another user. Start as another user, or set DATABASE_URL.',
    )
  }
}

/** Whether the account owns the directory and nobody else can enter it. */
export function isPrivateDir(path: string, account: Account): boolean {
  if (!existsSync(path)) return false
  const found = lstatSync(path)
  return found.isDirectory() && found.uid === (account?.uid ?? process.getuid?.() ?? found.uid) && !(found.mode & 0o077)
}

/** Whether the mode bits let the account enter every directory from the root down to `path`. */
export function canReach(path: string, account: Account): boolean {
  if (!account) return true
  const real = realpathSync(path)
  const { root } = parse(real)
  for (let at = real; ; at = dirname(at)) {
    const { uid, gid, mode } = statSync(at)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if (!(mode & bit)) return false
    if (at === root || at === sep) return true
  }
}
