import { encodedFile } from '@/app/_ui/files/encoded-file'
import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import type { Sending } from '@/app/_ui/files/sending-file'
import { giveUp, type Uploads } from '@/app/_ui/files/uploads'
import { network } from '@/app/_ui/network'
import type { Fields } from '@/server/definition/schema'
import type { SentFile } from '@/server/runs/with-files'
import { type ChosenFile, type Entry, partOf } from './start-values'

/** The files of a form, as the parts of the call that starts a run. */
export type SentParts = { files?: { part: string; file: SentFile }[] }

/** A file that the service has: as an upload or, once it is `given`, as a file of its run. */
interface Sent {
  id: string
  given: boolean
}

/** Gives a file to a run; returns its id there. */
type Give = (file: SentFile) => Promise<string>

/**
 * Sends a form's files: within the call while they are small, otherwise before it, one after the other. A file that was
 * sent is not sent again while the form stays, and no upload outlives its file in the form. What sends files returns null
 * if the user cancels, which needs no message.
 */
export class FileSender {
  readonly #sent = new Map<File, Sent>()
  /** The calls that give files to a run: one that was cancelled may still succeed. */
  readonly #giving = new Map<File, Promise<string>>()
  #underWay = new AbortController()
  #left = false

  /** @param show gets the file on its way, and null afterwards */
  constructor(
    private readonly uploads: Uploads,
    private readonly show: (sending: Sending | null) => void,
  ) {}

  enter(): void {
    this.#left = false
  }

  /** A form that is closed meanwhile is not sent. */
  leave(): void {
    this.#left = true
    this.#underWay.abort()
    this.keepOnly([])
  }

  cancel(): void {
    this.#underWay.abort()
  }

  /** Gives up the uploads of all other files. */
  keepOnly(entries: readonly Entry[]): void {
    for (const [file, { id, given }] of this.#sent) {
      if (entries.includes(file)) continue
      this.#sent.delete(file)
      if (!given) giveUp(this.uploads, id)
    }
  }

  /** Sends the files of a form, then `call` with them, which starts a run. */
  async sendWith<T>(
    fields: Fields,
    chosen: readonly ChosenFile[],
    call: (parts: SentParts) => Promise<T>,
  ): Promise<T | null> {
    const parts =
      chosen.length === 0 ? {} : await this.#unlessCancelled((signal) => this.#partsOf(fields, chosen, signal))
    if (!parts) return null
    const uploaded = chosen.flatMap(({ file }) => this.#sent.get(file) ?? [])
    const result = await this.#handOver(uploaded, () => call(parts))
    // No other run can have them, and no form needs the others.
    this.keepOnly([])
    return result
  }

  /** Gives the files of an answer to the run that asks for them. Returns their ids by field. */
  giveFiles(chosen: Record<string, File[]>, give: Give): Promise<Record<string, string[]> | null> {
    return this.#unlessCancelled(async (signal) => {
      const ids: Record<string, string[]> = {}
      for (const [name, files] of Object.entries(chosen)) {
        const own: string[] = []
        for (const file of files) own.push(await this.#giveFile(file, give, signal))
        ids[name] = own
      }
      return ids
    })
  }

  /** Does not wait for what is under way once the user cancels. */
  async #unlessCancelled<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    this.#underWay = new AbortController()
    const { signal } = this.#underWay
    if (this.#left) this.cancel()
    const cancelled = new Promise<null>((resolve) => {
      if (signal.aborted) resolve(null)
      signal.addEventListener('abort', () => resolve(null), { once: true })
    })
    try {
      const done = await Promise.race([send(signal), cancelled])
      return signal.aborted ? null : done
    } catch (error) {
      if (signal.aborted) return null
      throw error
    } finally {
      this.show(null)
    }
  }

  async #partsOf(fields: Fields, chosen: readonly ChosenFile[], signal: AbortSignal): Promise<SentParts> {
    const large = chosen.reduce((sum, { file }) => sum + file.size, 0) > MAX_FORM_BYTES
    const files = []
    for (const { name, file } of chosen)
      files.push({ part: partOf(fields, name), file: await this.#send(file, large, signal) })
    return { files }
  }

  async #giveFile(file: File, give: Give, signal: AbortSignal): Promise<string> {
    const before = this.#sent.get(file)
    const giving = this.#giving.get(file)
    if (giving) return giving
    if (before?.given) return before.id
    const sent = await this.#send(file, file.size > MAX_FORM_BYTES, signal)
    const own = this.#sent.get(file)
    const given = this.#handOver(own ? [own] : [], () => give(sent)).finally(() => this.#giving.delete(file))
    this.#giving.set(file, given)
    const id = await given
    this.#sent.set(file, { id, given: true })
    return id
  }

  async #send(file: File, large: boolean, signal: AbortSignal): Promise<SentFile> {
    signal.throwIfAborted()
    return large && file.size > 0 && this.uploads.limit !== null ? this.#upload(file, signal) : encodedFile(file)
  }

  async #upload(file: File, signal: AbortSignal): Promise<SentFile> {
    const before = this.#sent.get(file)
    if (before) return { uploaded: before.id }
    const { name, size: total } = file
    const onProgress = (loaded: number) => this.show({ name, loaded: Math.min(loaded, total), total })
    onProgress(0)
    // Loaded on demand: most forms send no large file.
    const { uploadFile } = await network.load(() => import('@/app/_ui/files/upload-file'))
    const id = await uploadFile(file, this.uploads, { signal, onProgress })
    this.#sent.set(file, { id, given: false })
    return { uploaded: id }
  }

  /** Gives no upload up while a run may be getting it. */
  async #handOver<T>(uploaded: readonly Sent[], call: () => Promise<T>): Promise<T> {
    for (const one of uploaded) one.given = true
    try {
      return await call()
    } catch (error) {
      for (const one of uploaded) one.given = false
      if (this.#left) for (const { id } of uploaded) giveUp(this.uploads, id)
      throw error
    }
  }
}
