import { type Dirent, existsSync, readFileSync } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './contents'
import type { Packed } from './tar'

/**
 * A file or folder and everything in it, while others write to it: omits files removed meanwhile; a file has the size
 * it had when opened.
 * @param skip whether to omit an entry, given its name in the archive
 */
export async function* readFolder(
  root: string,
  name: string,
  skip: (name: string) => boolean = () => false,
): AsyncGenerator<Packed> {
  const entries = await unlessGone(readdir(join(root, name), { withFileTypes: true }))
  if (!entries) return
  yield { name }
  for (const entry of entries.sort(byName)) {
    const path = `${name}/${entry.name}`
    if (skip(path)) continue
    if (entry.isDirectory()) yield* readFolder(root, path, skip)
    else if (entry.isFile()) yield* readOne(root, path)
  }
}

/** One file, or nothing if it has been removed. */
export async function* readOne(root: string, name: string): AsyncGenerator<Packed> {
  const handle = await unlessGone(open(join(root, name), 'r'))
  if (!handle) return
  try {
    const { size } = await handle.stat()
    yield { name, file: { size, content: exactly(handle, size) } }
  } finally {
    await handle.close()
  }
}

/** A file that Postgres rewrites in place: read until two reads agree. */
export function readSteady(root: string, name: string): Packed {
  const path = join(root, name)
  let last = readFileSync(path)
  for (;;) {
    const next = readFileSync(path)
    if (next.equals(last)) return packed(name, next)
    last = next
  }
}

export function packed(name: string, content: string | Buffer): Packed {
  const bytes = Buffer.from(content)
  return { name, file: { size: bytes.length, content: [bytes] } }
}

export function holds(root: string, name: string): boolean {
  return existsSync(join(root, name))
}

/**
 * Zeros replace the part that was cut off since, as in Postgres's own base backups; the log of changes restores the
 * rest.
 */
async function* exactly(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const buffer = Buffer.alloc(Math.min(size - at, 256 * 1024))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    at += bytesRead || buffer.length
    yield bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead)
  }
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1
}
