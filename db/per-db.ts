import type { Db } from './types'

/** Creates a value once per pool, such as a query whose text is built once. */
export function perDb<T>(make: (db: Db) => T): (db: Db) => T {
  const made = new WeakMap<Db, { value: T }>()
  return (db) => {
    const known = made.get(db) ?? { value: make(db) }
    made.set(db, known)
    return known.value
  }
}
