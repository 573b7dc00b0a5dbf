import type { ErrorDetail } from '../errors'
import type { Content, Kind } from './kinds'

export type Action = 'create' | 'update' | 'unarchive' | 'publish' | 'archive' | 'delete'

/** The task for one object. */
export interface Task {
  kind: Kind
  id: string
  /** The position of its definition in the body; without one, the object's name. */
  path: string
  /** Null archives or deletes it, for lack of a definition. */
  wanted: Content | null
  seen: { content: Content } | undefined
  /** The actions taken. */
  actions: Action[]
  /** The resulting version; null for objects without versions. */
  version: number | null
}

/** An error detail that names the definition. `at` is the position in it. */
export function detailOf({ kind, id, path }: Pick<Task, 'kind' | 'id' | 'path'>, detail: ErrorDetail): ErrorDetail {
  const { path: at, ...rest } = detail
  const place = at === undefined || at === '' ? path : `${path}.${at}`
  return { ...rest, path: place, kind: kind.word, id, ...(at === undefined || at === '' ? {} : { at }) }
}
