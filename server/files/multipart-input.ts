/** The part of a form that holds its file. */
export const FILE_PART = 'attachment'

/** 3.75 MiB, the most one file may have. */
export const MAX_FILE_BYTES = 3_932_160

/** A file as it was sent; `name` and `type` are the sender's claims. */
export interface Upload {
  name: string
  type: string
  bytes: Uint8Array
}

/**
 * What a multipart form said. Texts stay texts until the START payload says what they mean. A class, since
 * no JSON body can ever be mistaken for an instance of it.
 */
export class MultipartInput {
  constructor(
    /** Each text part's values in the order sent. */
    readonly texts: ReadonlyMap<string, readonly string[]>,
    readonly file: Upload | null,
  ) {}
}
