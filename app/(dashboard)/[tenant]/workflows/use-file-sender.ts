import { useEffect, useRef, useState } from 'react'
import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import type { Sending } from '@/app/_ui/files/sending-file'
import { useUploads } from '@/app/_ui/files/uploads'
import { network } from '@/app/_ui/network'
import type { Fields } from '@/server/definition/schema'
import type { SentFile } from '@/server/runs/with-files'
import { type ChosenFile, encodedFile, partOf } from './start-values'

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
 * sent is not sent again while the form stays. What sends them returns null if the user cancels, which needs no message.
 */
export function useFileSender() {
  const uploads = useUploads()
  const [sending, setSending] = useState<Sending | null>(null)
  const underWay = useRef<AbortController | null>(null)
  const sent = useRef(new Map<File, Sent>())
  const left = useRef(false)
  // A form that is closed meanwhile is not sent.
  useEffect(() => {
    left.current = false
    return () => {
      left.current = true
      underWay.current?.abort()
    }
  }, [])

  async function unlessCancelled<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const controller = new AbortController()
    underWay.current = controller
    try {
      return await send(controller.signal)
    } catch (error) {
      if (controller.signal.aborted) return null
      throw error
    } finally {
      setSending(null)
    }
  }

  async function upload(file: File, signal: AbortSignal): Promise<SentFile> {
    const before = sent.current.get(file)
    if (before) return { uploaded: before.id }
    if (left.current) underWay.current?.abort()
    const { name, size: total } = file
    setSending({ name, loaded: 0, total })
    const onProgress = (loaded: number) => setSending({ name, loaded: Math.min(loaded, total), total })
    // Loaded on demand: most forms send no large file.
    const { uploadFile } = await network.load(() => import('@/app/_ui/files/upload-file'))
    const id = await uploadFile(file, uploads, { signal, onProgress })
    sent.current.set(file, { id, given: false })
    return { uploaded: id }
  }

  async function send(file: File, large: boolean, signal: AbortSignal): Promise<SentFile> {
    return large && file.size > 0 && uploads.limit !== null ? upload(file, signal) : encodedFile(file)
  }

  async function partsOf(fields: Fields, chosen: readonly ChosenFile[]): Promise<SentParts | null> {
    if (chosen.length === 0) return {}
    const large = chosen.reduce((sum, { file }) => sum + file.size, 0) > MAX_FORM_BYTES
    return unlessCancelled(async (signal) => {
      const files = []
      for (const { name, file } of chosen)
        files.push({ part: partOf(fields, name), file: await send(file, large, signal) })
      return { files }
    })
  }

  /** Sends the files of a form, then `call` with them, which starts a run. */
  async function sendWith<T>(
    fields: Fields,
    chosen: readonly ChosenFile[],
    call: (parts: SentParts) => Promise<T>,
  ): Promise<T | null> {
    const parts = await partsOf(fields, chosen)
    if (!parts) return null
    const result = await call(parts)
    // The run has them: no other can have them again.
    sent.current.clear()
    return result
  }

  async function giveFile(file: File, give: Give, signal: AbortSignal): Promise<string> {
    const before = sent.current.get(file)
    if (before?.given) return before.id
    const id = await give(await send(file, file.size > MAX_FORM_BYTES, signal))
    sent.current.set(file, { id, given: true })
    return id
  }

  /** Gives the files of an answer to the run that asks for them. Returns their ids by field. */
  function giveFiles(chosen: Record<string, File[]>, give: Give): Promise<Record<string, string[]> | null> {
    return unlessCancelled(async (signal) => {
      const ids: Record<string, string[]> = {}
      for (const [name, files] of Object.entries(chosen)) {
        const own: string[] = []
        for (const file of files) own.push(await giveFile(file, give, signal))
        ids[name] = own
      }
      return ids
    })
  }

  return {
    ...{ limit: uploads.limit, sendWith, giveFiles },
    /** For `SendingFile`. */
    progress: { sending, onCancel: () => underWay.current?.abort() },
  }
}
