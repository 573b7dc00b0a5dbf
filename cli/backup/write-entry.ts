import { chownSync, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Account } from '@/db/postgres/account'
import { RESTORED } from './contents'
import { TarError, type Unpacked } from './tar'

/**
 * Writes one entry of a backup into a folder, never outside it.
 * @param account the account that runs Postgres, if not this user's
 */
export async function writeEntry(root: string, { name, file }: Unpacked, account: Account): Promise<void> {
  const parts = name.split('/')
  const isOurs = RESTORED.includes(parts[0] ?? '') && !/[\\\0:]/.test(name)
  if (!isOurs || parts.some((part) => part === '' || part === '.' || part === '..')) throw new TarError(false)
  const path = join(root, name)
  const isPostgres = parts[0] === 'postgres'
  const give = () => {
    if (account && isPostgres) chownSync(path, account.uid, account.gid)
  }
  if (!file) {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return give()
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const part of file.content) await handle.writeFile(part)
    // Postgres syncs its own files when it starts on a backup.
    if (!isPostgres) await handle.sync()
  } finally {
    await handle.close()
  }
  give()
}
