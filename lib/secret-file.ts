import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A secret generated once and stored in a file only its owner can read. The file is linked into place complete, so when
 * several processes generate it concurrently, one wins and all read the same value.
 * @throws the file system's error when it can be neither read nor written
 */
export function secretFile(path: string, make: () => string): string {
  const known = read(path)
  if (known !== null) return known
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(draft, `${make()}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, path)
  } catch (err) {
    if (errorCode(err) !== 'EEXIST') throw err
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8')
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return null
    throw err
  }
}

export function errorCode(err: unknown): string {
  return err instanceof Error && 'code' in err ? String(err.code) : String(err)
}
