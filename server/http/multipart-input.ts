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

/** A file that its sender has uploaded before, by its id. */
export interface Uploaded {
  uploaded: string
}

export interface NamedUpload<U = Upload> {
  part: string
  upload: U
}

/**
 * A parsed multipart form. Texts stay texts until the START fields give them types. It is a class so that no JSON body
 * can be mistaken for it. Only a page names files that it has uploaded before.
 */
export class MultipartInput<U extends Upload | Uploaded = Upload> {
  constructor(
    /** The values of each text field, in the order sent. */
    readonly texts: ReadonlyMap<string, readonly string[]>,
    readonly file: U | null,
    /** The files sent under the names of fields, in the order sent. */
    readonly named: readonly NamedUpload<U>[] = [],
  ) {}

  /** All files, with the names of their parts. */
  get files(): readonly NamedUpload<U>[] {
    return [...(this.file ? [{ part: FILE_PART, upload: this.file }] : []), ...this.named]
  }
}
