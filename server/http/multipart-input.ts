/** The part with a form's file, for any of its fields. */
export const FILE_PART = 'attachment'

/** 3.75 MiB, the most that the files of a form may have together. */
export const MAX_FILE_BYTES = 3_932_160

/** A file as sent; `name` and `type` are the sender's claims. */
export interface Upload {
  name: string
  type: string
  bytes: Uint8Array
}

export interface NamedUpload {
  part: string
  upload: Upload
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
    /** The files sent under the names of fields, in the order sent. */
    readonly named: readonly NamedUpload[] = [],
  ) {}

  /** All files, with the names of their parts. */
  get files(): readonly NamedUpload[] {
    return [...(this.file ? [{ part: FILE_PART, upload: this.file }] : []), ...this.named]
  }
}
