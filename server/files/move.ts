import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { and, eq, gt, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { files } from '@/db/schema/files'
import { installation } from '@/db/schema/installation'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { type Env, EnvError } from '../env'
import { type FileStoreKind, fileStore } from '../host/installation'
import { chunksOf } from '../http/body'
import { MAX_FILE_BYTES } from '../http/multipart-input'
import { INCOMPLETE } from './direct/find'
import type { FileStorage } from './file-storage'
import { storageIn } from './storage'

const PAGE = 200
/** How many files are copied at a time that a form may have. Larger ones follow one by one. */
const AT_ONCE = 8
/** How many files at most are copied while uploads wait. */
const WHILE_HELD = 20
/** An upload without bytes by then has been abandoned. */
const UPLOAD_S = 60
const TRY_AGAIN_MS = 1_000
const MAX_NAMED = 10

type Row = Pick<typeof files.$inferSelect, 'tenantId' | 'id' | 'size' | 'sha256' | 'claimedAt'>

interface Moved {
  /** Copied, read back and compared. */
  copied: number
  /** Present from an earlier attempt. */
  there: number
  /** Uploads that were begun and not completed. Their senders have to begin again. */
  abandoned: number
  store: FileStoreKind
}

/**
 * Copies all files to another storage and then makes that the active one, while the service runs. Processes with the
 * old setting can still read, because nothing is deleted there; they reject uploads until restarted with the new one.
 * Interrupted, it has only made copies, and the next run copies the rest.
 * @throws EnvError if files are not in the named storage, or some are incomplete
 */
export async function moveFiles(
  db: Db,
  settings: Env,
  { from, to }: { from: FileStoreKind; to: FileStoreKind },
): Promise<Moved> {
  const names = [fileStore(settings, from), fileStore(settings, to)]
  const [noted] = await db.select({ store: installation.fileStore }).from(installation)
  if (noted?.store === names[1]) return { copied: 0, there: 0, abandoned: 0, store: to }
  if (noted?.store != null && noted.store !== names[0])
    throw new EnvError(
      `The files of this service are not in the ${from} that the settings name. Set what they were stored with.`,
    )
  const move = new Move(storageIn(settings, from), storageIn(settings, to))
  for (;;) {
    while ((await move.pass(db)) > WHILE_HELD);
    move.requireWhole()
    if (await db.transaction((tx) => switchOver(tx, move, names[1] ?? null))) break
    await sleep(TRY_AGAIN_MS)
  }
  return { copied: move.copied, there: move.there, abandoned: move.abandoned, store: to }
}

/** @returns false if an upload is in progress, or more files arrived than can be copied while the others wait */
async function switchOver(tx: Tx, move: Move, store: string | null): Promise<boolean> {
  // A stored file locks this row until its own row exists, and an upload before a run until it is complete: from here on
  // there are no others.
  await tx.insert(installation).values({ id: true }).onConflictDoNothing()
  await tx.select({ store: installation.fileStore }).from(installation).for('update')
  const left = await move.left(tx)
  if (left.length > WHILE_HELD) return false
  await move.copy(tx, left)
  if (move.underWay > 0) return false
  await move.forget(tx)
  move.requireWhole()
  await move.abandon(tx)
  await tx.update(installation).set({ fileStore: store })
  return true
}

class Move {
  copied = 0
  there = 0
  abandoned = 0
  underWay = 0
  /** Files in the target, by tenant and id. */
  private readonly done = new Map<string, Row>()
  private readonly lost = new Set<string>()

  constructor(
    private readonly source: FileStorage,
    private readonly target: FileStorage,
  ) {}

  /** Copies the missing files. @returns the number of files */
  async pass(db: Db | Tx): Promise<number> {
    const left = await this.left(db)
    await this.copy(db, left)
    return left.length - this.underWay - this.lost.size
  }

  async left(db: Db | Tx): Promise<Row[]> {
    const left: Row[] = []
    for await (const row of rowsOf(db)) if (!this.done.has(rowKey(row))) left.push(row)
    return left
  }

  async copy(db: Db | Tx, rows: readonly Row[]): Promise<void> {
    this.underWay = 0
    this.lost.clear()
    const isLarge = ({ size }: Row) => size > MAX_FILE_BYTES
    const copy = (row: Row) => this.copyOne(db, row)
    await forEachAtOnce(
      rows.filter((row) => !isLarge(row)),
      AT_ONCE,
      copy,
    )
    await forEachAtOnce(rows.filter(isLarge), 1, copy)
  }

  /** Holds the file: a bucket takes it in one request, with its hash. */
  private async copyOne(db: Db | Tx, row: Row): Promise<void> {
    const { tenantId, id } = row
    if (await isWhole(row, await this.target.read(tenantId, id))) this.there++
    else {
      const bytes = await this.source.get(tenantId, id)
      if (!bytes || !(await isWhole(row, bytes))) return this.missing(db, row)
      await this.target.put(tenantId, id, bytes)
      if (!(await isWhole(row, await this.target.read(tenantId, id))))
        throw new EnvError(`The file ${id} did not arrive as it was sent. Run the command again.`)
      this.copied++
    }
    this.done.set(rowKey(row), row)
  }

  /** Its row may be gone by now; an upload writes its bytes after the row. */
  private async missing(db: Db | Tx, row: Row): Promise<void> {
    const mine = and(eq(files.tenantId, row.tenantId), eq(files.id, row.id), isNull(files.condemnedAt))
    const young = sql<boolean>`${files.claimedAt} is null and ${files.createdAt} > now() - ${UPLOAD_S}::int * interval '1 second'`
    const [now] = await db.select({ young, claimedAt: files.claimedAt }).from(files).where(mine)
    if (!now) return
    if (now.young) this.underWay++
    // It can only be a failed upload: nothing will claim it, and the sweep removes it.
    else if (now.claimedAt === null)
      await db
        .update(files)
        .set({ condemnedAt: sql`now()` })
        .where(and(mine, isNull(files.claimedAt)))
    else this.lost.add(rowKey(row))
  }

  /** Ends uploads that are not complete: their tokens lead to the old place. */
  async abandon(tx: Tx): Promise<void> {
    const ended = await tx
      .update(files)
      .set({ condemnedAt: sql`now()` })
      .where(and(eq(files.sha256, INCOMPLETE), isNull(files.condemnedAt)))
      .returning({ id: files.id })
    this.abandoned = ended.length
  }

  /** Removes copies of files that have been deleted since. */
  async forget(db: Db | Tx): Promise<void> {
    const gone = new Map(this.done)
    for await (const row of rowsOf(db)) gone.delete(rowKey(row))
    await forEachAtOnce([...gone.values()], AT_ONCE, ({ tenantId, id }) => this.target.delete(tenantId, id))
  }

  /** @throws EnvError */
  requireWhole(): void {
    if (this.lost.size === 0) return
    const some = [...this.lost].slice(0, MAX_NAMED).join(', ')
    throw new EnvError(
      `${this.lost.size} of the files are missing or damaged where they should be, such as ${some}. All others are copied, and the service still uses the old place. Bring these files back, or delete what they belong to, and run the command again.`,
    )
  }
}

/** Excludes files that are about to be deleted, and uploads that are not complete. */
async function* rowsOf(db: Db | Tx): AsyncGenerator<Row> {
  const { tenantId, id, size, sha256, claimedAt } = files
  for (let last: Row | undefined; ; ) {
    const after = last && or(gt(tenantId, last.tenantId), and(eq(tenantId, last.tenantId), gt(id, last.id)))
    const page: Row[] = await db
      .select({ tenantId, id, size, sha256, claimedAt })
      .from(files)
      .where(and(isNull(files.condemnedAt), ne(sha256, INCOMPLETE), after))
      .orderBy(tenantId, id)
      .limit(PAGE)
    yield* page
    last = page.at(-1)
    if (page.length < PAGE) return
  }
}

function rowKey({ tenantId, id }: Row): string {
  return `${tenantId}/${id}`
}

async function isWhole(
  { size, sha256 }: Row,
  stored: ReadableStream<Uint8Array> | Uint8Array | null,
): Promise<boolean> {
  if (!stored) return false
  const hash = createHash('sha256')
  let read = 0
  for await (const chunk of stored instanceof ReadableStream ? chunksOf(stored) : [stored]) {
    hash.update(chunk)
    read += chunk.byteLength
    if (read > size) return false
  }
  return read === size && hash.digest('hex') === sha256
}
