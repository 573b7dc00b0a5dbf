/** The form field with the file. */
export const FILE_PART = 'attachment'

/** 3.75 MiB, the largest allowed file. */
export const MAX_FILE_BYTES = 3_932_160

/** A file as sent; `name` and `type` are the sender's claims. */
export interface Upload {
  name: string
  type: string
  bytes: Uint8Array
}

/**
 * A parsed multipart form. Texts stay texts until the START fields give them types. It is a class so that no JSON body
 * can be mistaken for it.
 */
export class MultipartInput {
  constructor(
    /** The values of each text field, in the order sent. */
    readonly texts: ReadonlyMap<string, readonly string[]>,
    readonly file: Upload | null,
  ) {}
}
