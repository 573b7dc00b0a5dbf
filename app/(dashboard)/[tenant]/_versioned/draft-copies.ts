import { isObject } from './json'

/** What a page has not saved yet, kept in this browser. */
export interface DraftCopy<T> {
  /** What the server had when it was typed. */
  base: T
  /** What was sent to the server without an answer. */
  sent: T[]
  value: T
  /** When it was typed. */
  at: string
}

/** Like `localStorage`. */
export type CopyStorage = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>

export interface DraftCopies<T> {
  /** The newest copy that another page left behind. It stays until `forget`. */
  find(): DraftCopy<T> | null
  keep(copy: DraftCopy<T>): void
  /** The server has everything: removes this page's copy, and the one that was found. */
  forget(): void
}

/**
 * The copies of one draft. Each page writes its own, so that two of them never overwrite each other's.
 * @param page names the page that writes
 * @param isWhole whether a copy, perhaps made by another release, has the shape of a draft
 * @param storage null where the browser refuses it
 */
export function createDraftCopies<T>(options: {
  draft: string
  page: string
  isWhole: (value: object) => boolean
  storage(): CopyStorage | null
}): DraftCopies<T> {
  const { draft, page, isWhole, storage } = options
  const prefix = `millrace-draft:${draft}:`
  const own = `${prefix}${page}`
  let found: string | null = null

  function read(key: string): DraftCopy<T> | null {
    try {
      const copy: unknown = JSON.parse(storage()?.getItem(key) ?? 'null')
      if (!isObject(copy) || typeof copy.at !== 'string') return null
      const parts = [copy.base, copy.value, ...(Array.isArray(copy.sent) ? copy.sent : [null])]
      // Written by `keep`, and whole.
      return parts.every((part) => isObject(part) && isWhole(part)) ? (copy as unknown as DraftCopy<T>) : null
    } catch {
      return null
    }
  }

  return {
    find() {
      const store = storage()
      const keys = Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '')
      const copies = keys
        .filter((key) => key.startsWith(prefix) && key !== own)
        .flatMap((key) => {
          const copy = read(key)
          return copy ? [{ key, copy }] : []
        })
        .sort((a, b) => (a.copy.at < b.copy.at ? 1 : -1))
      found = copies[0]?.key ?? null
      return copies[0]?.copy ?? null
    },
    keep(copy) {
      try {
        storage()?.setItem(own, JSON.stringify(copy))
      } catch {
        // The browser's storage is full; the page still has it, and asks before it is left.
      }
    },
    forget() {
      storage()?.removeItem(own)
      if (found !== null) storage()?.removeItem(found)
      found = null
    },
  }
}
