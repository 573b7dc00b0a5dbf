/** A page's unsaved changes, stored on this device. */
export interface DraftCopy<T> {
  /** The server's last known content when they were typed. */
  base: T
  /** Content sent to the server without a response. */
  sent: T[]
  value: T
  /** The time of the last edit. */
  at: string
}

/** The copies of one draft. Each page writes its own, so that two of them never overwrite each other's. */
export interface DraftCopies<T> {
  /** The newest copy left by another page. */
  find(): Promise<FoundCopy<T> | null>
  /** @returns false if this device cannot store it */
  keep(copy: DraftCopy<T>): Promise<boolean>
  /** Like `keep`, but synchronous, for a page that is closing. */
  keepNow(copy: DraftCopy<T>): boolean
  /** Removes this page's copy, or a found one. Never call it after a failed save. */
  forget(found?: FoundCopy<T>): Promise<void>
}

export interface FoundCopy<T> extends DraftCopy<T> {
  page: string
}

export interface CopyRow extends DraftCopy<unknown> {
  draft: string
  /** The id of the page that wrote it. */
  page: string
}
type Key = Pick<CopyRow, 'draft' | 'page'>

/** The main store of copies: large, but asynchronous. */
export interface CopyDatabase {
  list(draft: string): Promise<CopyRow[]>
  put(row: CopyRow): Promise<boolean>
  remove(key: Key): Promise<void>
}

/** The store for closing pages: synchronous, but small and shared by all pages, like `localStorage`. */
export type SyncStorage = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>

const PREFIX = 'millrace-draft:'
/** Characters. Browsers allow a site about five million in total. */
export const MAX_SYNC_COPY = 2_000_000

/**
 * The database stores the copies. Copies that a closing page wrote to the storage move there when the next draft opens.
 * Database calls run in call order, so that a removal also removes an earlier write.
 * @param options.isWhole whether a copy, perhaps made by another release, has the content of a draft
 * @param options.storage null where the browser refuses it
 */
export function createDraftCopies<T extends object>(options: {
  draft: string
  page: string
  isWhole(content: object): boolean
  database: CopyDatabase
  storage(): SyncStorage | null
}): DraftCopies<T> {
  const { draft, page, isWhole, database, storage } = options
  let last: Promise<unknown> = Promise.resolve()
  function inOrder<R>(work: () => Promise<R>): Promise<R> {
    const next = last.then(work, work)
    last = next
    return next
  }
  const whole = (content: unknown) => typeof content === 'object' && content !== null && isWhole(content)
  const isLeftBehind = (row: CopyRow) =>
    row.draft === draft && row.page !== page && [row.base, row.value, ...row.sent].every(whole)

  return {
    find: () =>
      inOrder(async () => {
        const waiting = waitingRows(storage())
        const rows = await database.list(draft)
        for (const row of waiting) if (await moveOver(database, row)) storage()?.removeItem(storageKey(row))
        // Written by `keep`, and complete.
        return newest([...waiting, ...rows].filter(isLeftBehind)) as FoundCopy<T> | null
      }),
    keep: (copy) => inOrder(() => database.put({ ...copy, draft, page })),
    keepNow(copy) {
      const text = JSON.stringify(copy)
      if (text.length > MAX_SYNC_COPY) return false
      try {
        const target = storage()
        target?.setItem(storageKey({ draft, page }), text)
        return target !== null
      } catch {
        return false
      }
    },
    forget(found) {
      const key = { draft, page: found?.page ?? page }
      storage()?.removeItem(storageKey(key))
      return inOrder(() => database.remove(key))
    },
  }
}

/** The latest copy. */
export function newest<C extends { at: string }>(copies: readonly C[]): C | null {
  return copies.reduce<C | null>((best, copy) => (best && best.at >= copy.at ? best : copy), null)
}

/** @returns whether the database now has this row or a newer one */
async function moveOver(database: CopyDatabase, row: CopyRow): Promise<boolean> {
  const known = (await database.list(row.draft)).find(({ page }) => page === row.page)
  return known && known.at > row.at ? true : database.put(row)
}

function storageKey({ draft, page }: Key): string {
  return `${PREFIX}${draft}:${page}`
}

function waitingRows(storage: SyncStorage | null): CopyRow[] {
  if (!storage) return []
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
  return keys.filter((key) => key.startsWith(PREFIX)).flatMap((key) => readRow(key, storage.getItem(key)) ?? [])
}

function readRow(key: string, text: string | null): CopyRow | null {
  const end = key.lastIndexOf(':')
  try {
    const copy = JSON.parse(text ?? '') as Partial<CopyRow> | null
    if (!copy?.base || !copy.value || typeof copy.at !== 'string' || !Array.isArray(copy.sent)) return null
    const { base, sent, value, at } = copy
    return { base, sent, value, at, draft: key.slice(PREFIX.length, end), page: key.slice(end + 1) }
  } catch {
    return null
  }
}
