import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@/db/embedded'
import { accountFor, makePrivateDir } from '@/db/postgres/account'
import { findBinaries } from '@/db/postgres/binaries'
import { SERVER_ENV } from '@/db/postgres/cluster'

const run = promisify(execFile)

/** For a database that is seeded once and thrown away: without the log that crash recovery needs. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  shared_buffers: '2GB',
  effective_cache_size: '8GB',
  maintenance_work_mem: '512MB',
  max_parallel_maintenance_workers: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
  max_locks_per_transaction: '512',
}

export async function startServer(folder: string): Promise<EmbeddedPostgres> {
  const dataDir = join(folder, 'postgres')
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  if (!existsSync(dataDir)) await create(dataDir)
  return startEmbeddedPostgres({ dataDir, log: () => {}, settings: SETTINGS })
}

/**
 * As the product's own cluster, but without checksums: with them, the first read of each new row would write to the
 * log.
 */
async function create(dataDir: string): Promise<void> {
  const draft = `${dataDir}.new`
  rmSync(draft, { recursive: true, force: true })
  const account = accountFor(dataDir)
  const { initdb } = await findBinaries(account)
  makePrivateDir(draft, account)
  const args = ['-D', draft, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-data-checksums', '--no-sync']
  args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  await run(initdb, args, { cwd: draft, env: SERVER_ENV, ...account })
  renameSync(draft, dataDir)
}

/** Drops a stopped server's files from the system's cache. */
export async function forget(folder: string): Promise<void> {
  const each = 'for f; do dd if="$f" iflag=nocache count=0 status=none; done'
  await run('find', [join(folder, 'postgres'), '-type', 'f', '-exec', 'sh', '-c', each, 'sh', '{}', '+'])
}
