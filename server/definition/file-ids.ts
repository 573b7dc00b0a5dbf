const HEX = '[0-9a-f]'
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`
const WHOLE = new RegExp(`^${UUID}$`, 'i')
const WITHIN = new RegExp(`(?<![\\w-])${UUID}(?![\\w-])`, 'gi')

/** Whether a value can be the id of a stored file. Other UUIDs look the same. */
export function isFileReference(value: unknown): value is string {
  return typeof value === 'string' && WHOLE.test(value)
}

/** The texts within a text that can be ids of stored files, each once. */
export function fileReferencesIn(text: string): string[] {
  return [...new Set(text.match(WITHIN) ?? [])]
}

/** A text in pieces: every second one can be the id of a stored file. */
export function aroundFileReferences(text: string): string[] {
  const ids = text.match(WITHIN) ?? []
  const between = text.split(WITHIN)
  return between.flatMap((piece, index) => (index < ids.length ? [piece, ids[index] ?? ''] : [piece]))
}

/**
 * The fields of an object without `fileId` if another of them names the same file: a form's file is the value of
 * `fileId` and of the field it was sent for.
 */
export function withoutFileTwice<T>(fields: readonly (readonly [string, T])[]): (readonly [string, T])[] {
  const own = fields.find(([name]) => name === 'fileId')?.[1]
  const twice =
    isFileReference(own) &&
    fields.some(([name, value]) => name !== 'fileId' && fileIdsOf(value).includes(own.toLowerCase()))
  return fields.filter(([name]) => !(twice && name === 'fileId'))
}

/** The ids of the files that a value, or each item of a list, can be, in lower case. */
export function fileIdsOf(value: unknown): string[] {
  const named = Array.isArray(value) ? value : [value]
  return named.filter(isFileReference).map((id) => id.toLowerCase())
}
