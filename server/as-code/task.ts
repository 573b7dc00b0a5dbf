import type { ErrorDetail } from '../errors'
import type { Content, Kind } from './kinds'

export type Action = 'create' | 'update' | 'unarchive' | 'publish' | 'archive' | 'delete'

/** What becomes of one object. */
export interface Task {
  kind: Kind
  id: string
  /** Where its definition is in the body; what names it if there is none. */
  path: string
  /** Null: it goes, because there is no definition of it. */
  wanted: Content | null
  seen: { content: Content } | undefined
  /** What was done. */
  actions: Action[]
  /** The version that says what is wanted, once that is so; null for what has no versions. */
  version: number | null
}

/** An error detail that names the definition. `at` is the place in it. */
export function detailOf({ kind, id, path }: Pick<Task, 'kind' | 'id' | 'path'>, detail: ErrorDetail): ErrorDetail {
  const { path: at, ...rest } = detail
  const place = at === undefined || at === '' ? path : `${path}.${at}`
  return { ...rest, path: place, kind: kind.word, id, ...(at === undefined || at === '' ? {} : { at }) }
}
