/**
 * Tar archives (ustar) as streams: everything a backup needs, readable by any `tar`. Folders have mode 0700, files
 * 0600. Our own: tar-stream brings twelve more packages, including the file system and the streams of another runtime.
 */

const BLOCK = 512

/** A folder, or a file with exactly `size` bytes. */
export type Packed = { name: string; file?: { size: number; content: AsyncIterable<Buffer> | Iterable<Buffer> } }
/** Read the content before requesting the next entry. */
export type Unpacked = { name: string; file?: { size: number; content: AsyncIterable<Buffer> } }

/** Not an archive, or an incomplete one. */
export class TarError extends Error {
  constructor(readonly isCutShort: boolean) {
    super(isCutShort ? 'the archive is cut short' : 'this is not a tar archive')
  }
}

export async function* pack(entries: AsyncIterable<Packed>): AsyncGenerator<Buffer> {
  for await (const { name, file } of entries) {
    yield headerOf(name, file?.size)
    if (!file) continue
    yield* file.content
    yield Buffer.alloc(-file.size & (BLOCK - 1))
  }
  yield Buffer.alloc(2 * BLOCK)
}

/** @throws TarError also when the archive has no proper end */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Unpacked> {
  const bytes = new Bytes(source)
  for (;;) {
    const header = await bytes.take(BLOCK)
    if (header.every((byte) => byte === 0)) return bytes.drain()
    if (octal(header, 148, 8) !== checksum(header)) throw new TarError(false)
    const name = [text(header, 345, 155), text(header, 0, 100)].filter((part) => part !== '').join('/')
    const type = header[156]
    if (type === 0x35) yield { name: name.replace(/\/$/, '') }
    else if (type === 0x30) {
      const size = octal(header, 124, 12)
      const content = bytes.stream(size)
      yield { name, file: { size, content } }
      for await (const _unread of content);
      await bytes.take(-size & (BLOCK - 1))
    } else throw new TarError(false)
  }
}

function headerOf(name: string, size: number | undefined): Buffer {
  const isFolder = size === undefined
  const full = isFolder ? `${name}/` : name
  const cut = Buffer.byteLength(full) <= 100 ? -1 : full.indexOf('/', full.length - 101)
  const [prefix, rest] = cut < 0 ? ['', full] : [full.slice(0, cut), full.slice(cut + 1)]
  if (Buffer.byteLength(rest) > 100 || Buffer.byteLength(prefix) > 155 || (size ?? 0) >= 8 ** 11) {
    throw new Error(`${name} cannot be put into an archive: its name is too long or it is too large`)
  }
  const header = Buffer.alloc(BLOCK)
  header.write(rest, 0)
  const numbers = [isFolder ? 0o700 : 0o600, 0, 0].map((number) => `${number.toString(8).padStart(7, '0')}\0`)
  const [bytes, time] = [size ?? 0, Math.floor(Date.now() / 1_000)].map((n) => `${n.toString(8).padStart(11, '0')}\0`)
  header.write(`${numbers.join('')}${bytes}${time}`, 100)
  header.write(isFolder ? '5' : '0', 156)
  header.write('ustar\x0000', 257)
  header.write(prefix, 345)
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

function checksum(header: Buffer): number {
  // its own field counts as blanks
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0)
}

function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.subarray(0, end < 0 ? length : end).toString()
}

function octal(header: Buffer, at: number, length: number): number {
  const digits = text(header, at, length).trim()
  if (!/^[0-7]+$/.test(digits)) throw new TarError(false)
  return Number.parseInt(digits, 8)
}

/** Reads a stream in pieces of the requested length. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.stream(length)) parts.push(part)
    return Buffer.concat(parts)
  }

  /** Reads to the end, where a compressed stream checks its sum. */
  async drain(): Promise<void> {
    while (!(await this.#source.next()).done);
  }

  async *stream(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next()
        if (next.done) throw new TarError(true)
        this.#rest = next.value
      }
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }
}
