import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { socketFile } from '../url'
import { type Account, canReach, isPrivateDir, makePrivateDir } from './account'
import type { Binaries } from './binaries'
import { isAlive } from './postmaster'

/** A data directory as the account sees it. */
export interface Cluster {
  dataDir: string
  account: Account
  /** The path passed to Postgres; see `viewOf`. */
  view: string
  /** The directory of its socket. Undefined on platforms without Unix sockets. */
  socketDir: string | undefined
  /** Set only if the server listens on TCP. */
  password: string | undefined
}

const SOCKET_PATH_LIMIT = 103 // 104 on macOS and 108 on Linux, with the final zero
// Inherit nothing from the caller: the server outlives it, and libpq's variables would mislead initdb.
export const SERVER_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C' } as unknown as NodeJS.ProcessEnv
const WINDOWS = process.platform === 'win32'

/** Creates the cluster on first use, completely or not at all. @returns how to connect to it */
export async function prepareCluster(dataDir: string, account: Account, binaries: Binaries): Promise<Cluster> {
  const parent = dirname(dataDir)
  const passwordFile = join(parent, 'postgres.password')
  removeDrafts(dataDir)
  checkReadable(dataDir)
  const exists = () => existsSync(join(dataDir, 'PG_VERSION'))
  if (!exists()) {
    if (existsSync(dataDir) && readdirSync(dataDir).length > 0 && !exists()) {
      throw new Error(`${dataDir} is not empty and holds no database. Empty it, or set another DATA_DIR.`)
    }
    if (WINDOWS && !existsSync(passwordFile))
      writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 })
    await create(dataDir, account, binaries, WINDOWS ? passwordFile : undefined)
  }
  await checkVersion(dataDir, binaries)
  return {
    dataDir,
    account,
    view: viewOf(dataDir, account),
    socketDir: WINDOWS ? undefined : socketDirFor(dataDir, account),
    password: WINDOWS ? readFileSync(passwordFile, 'utf8').trim() : undefined,
  }
}

/**
 * The path by which Postgres reaches its directory. An account that may not enter the parent directories, such as those
 * of a checkout in root's home, starts inside the directory and uses the kernel's link to its working directory.
 */
function viewOf(dataDir: string, account: Account): string {
  if (canReach(dataDir, account)) return dataDir
  if (process.platform === 'linux' && existsSync('/proc/self/cwd')) return '/proc/self/cwd'
  throw new Error(
    `Postgres refuses to run as root, and the user it runs as instead cannot enter ${dirname(dataDir)}. ` +
      'Set DATA_DIR to a directory that user can enter, start as another user, or set DATABASE_URL.',
  )
}

async function create(dataDir: string, account: Account, binaries: Binaries, pwfile: string | undefined) {
  const draft = `${dataDir}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  makePrivateDir(draft, account)
  try {
    const args = ['-D', viewOf(draft, account), '-U', 'postgres', '--encoding=UTF8', '--no-instructions']
    args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8')
    args.push(...(pwfile ? ['--auth=scram-sha-256', `--pwfile=${pwfile}`] : ['--auth=trust']))
    await run(binaries.initdb, args, { cwd: draft, ...account })
    // Succeeds only if the target is absent or an empty directory: another process may have been faster.
    renameSync(draft, dataDir)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process has created the cluster meanwhile, which serves as well.
    if (!existsSync(join(dataDir, 'PG_VERSION'))) throw error
  }
}

/** Removes drafts left by a process that died during `create`. */
function removeDrafts(dataDir: string): void {
  const parent = dirname(dataDir)
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const pid = name.startsWith(`${basename(dataDir)}.new-`) ? Number(name.split('-').at(-2)) : 0
    if (pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function checkReadable(dataDir: string): void {
  if (!existsSync(dataDir)) return
  try {
    accessSync(dataDir, constants.R_OK | constants.X_OK)
  } catch {
    throw new Error(`${dataDir} belongs to another user. Start as that user or as root, or set another DATA_DIR.`)
  }
}

/** The major version of the programs. */
export async function majorVersion(binaries: Binaries): Promise<string | undefined> {
  return /\(PostgreSQL\) (\d+)/.exec(await run(binaries.postgres, ['--version'], {}))?.[1]
}

async function checkVersion(dataDir: string, binaries: Binaries): Promise<void> {
  const found = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim()
  const own = await majorVersion(binaries)
  if (own === undefined || found === own) return
  throw new Error(
    `${dataDir} was written by Postgres ${found}, and this is Postgres ${own}. Dump it with the old version and load it with this one.`,
  )
}

/** The data directory itself, or a private directory with a short name where the socket's path would be too long. */
function socketDirFor(dataDir: string, account: Account): string {
  if (Buffer.byteLength(socketFile(dataDir)) <= SOCKET_PATH_LIMIT) return dataDir
  const short = join(tmpdir(), `millrace-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`)
  if (!existsSync(short)) makePrivateDir(short, account)
  if (isPrivateDir(short, account)) return short
  const other = mkdtempSync(join(tmpdir(), 'millrace-'))
  chmodSync(other, 0o700)
  makePrivateDir(other, account)
  return other
}

interface RunOptions {
  cwd?: string
  uid?: number
  gid?: number
}

function run(program: string, args: string[], options: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { ...options, env: SERVER_ENV }, (error, out, err) => {
      if (!error) return resolve(out)
      if (err.includes('could not look up effective user ID')) {
        return reject(
          new Error(
            `The embedded Postgres needs a user with a name. Add uid ${options.uid ?? process.getuid?.()} to /etc/passwd, or set DATABASE_URL.`,
          ),
        )
      }
      const reason = err.trim().split('\n').at(-1) || error.message
      reject(new Error(`The embedded Postgres could not be set up (${basename(program)}: ${reason}).`))
    })
  })
}
