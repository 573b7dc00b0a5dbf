import { ImpossibleState } from '../errors'
import { isId } from '../ids'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function isFileId(text: string): boolean {
  return UUID.test(text)
}

/** `<tenant>/<uuid>`, after checking that the ids cannot point anywhere else. */
export function storageKey(tenantId: string, fileId: string): string {
  if (!isId(tenantId) || !isFileId(fileId)) throw new ImpossibleState('storage-key', 'not a tenant id and a file id')
  return `${tenantId}/${fileId}`
}
