import { type Env, env } from '../../env'
import { fileStoreKind } from '../../host/installation'
import type { SlotKind } from '../../tenant-slots'

const MIB = 1024 * 1024

/** How long the bytes of an upload are taken. */
export const UPLOAD_MS = 15 * 60_000
/**
 * For how long bytes may still arrive: a Blob store takes what began to be sent in time. Until then the row of a deleted
 * upload stays, so that they are deleted too.
 */
export const ARRIVING_MS = 2 * UPLOAD_MS
/**
 * How many files may be uploaded that nothing has yet, and no message that is being answered: by one caller, and by all members and credentials of a workspace.
 * Visitors of start links have other places: as many as a caller at one address, and these with one link and with all
 * links of a workspace.
 */
export const OPEN_PER_CALLER = 20
export const OPEN_PER_TENANT = 100
export const OPEN_PER_LINK = 100
export const OPEN_OF_FORMS = 200
/** With cancelled uploads whose bytes might still arrive, each limit is this many times as high. */
export const CANCELLED_TIMES = 3

/** The largest file that is uploaded directly, in bytes. Null if this process's storage takes none. */
export function directLimit(settings: Env = env()): number | null {
  const kind = fileStoreKind(settings)
  return kind === 'folder' || kind === 'blob' ? settings.UPLOAD_LIMIT_MB * MIB : null
}

/** Bytes are written as they arrive, so an upload costs a connection and the disk's time. */
export const RECEIVING: SlotKind = {
  ...{ name: 'uploads', perTenant: 4, inAll: 16, longestMs: UPLOAD_MS },
  refusal: 'Other files are being uploaded; try again shortly.',
}

/** The same for visitors of start links, so that they do not hold up members and programs. */
export const RECEIVING_FORMS: SlotKind = { ...RECEIVING, name: 'uploads of forms', perTenant: 8 }
/** And for those of one link at one address. */
export const RECEIVING_FORM: SlotKind = { ...RECEIVING, name: 'uploads of a form', perTenant: 3, inAll: 1_000 }

/** A file is read once more, to know its hash and its type. */
export const COMPLETING: SlotKind = {
  ...{ name: 'completed uploads', perTenant: 2, inAll: 4, longestMs: 60_000 },
  refusal: 'Other files are being checked; try again shortly.',
}
export const COMPLETING_FORMS: SlotKind = { ...COMPLETING, name: 'completed uploads of forms' }
