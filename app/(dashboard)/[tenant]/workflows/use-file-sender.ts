import { useEffect, useRef, useState } from 'react'
import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import type { Sending } from '@/app/_ui/files/sending-file'
import { useUploads } from '@/app/_ui/files/uploads'
import { network } from '@/app/_ui/network'
import type { Fields } from '@/server/definition/schema'
import type { SentFile } from '@/server/runs/with-files'
import { type ChosenFile, encodedFile, partOf } from './start-values'

type SentParts = { files?: { part: string; file: SentFile }[] }

/**
 * Sends a form's files: within the call while they are small, otherwise before it, one after the other. An uploaded file
 * is not sent again while the form stays.
 */
export function useFileSender() {
  const uploads = useUploads()
  const [sending, setSending] = useState<Sending | null>(null)
  const underWay = useRef<AbortController | null>(null)
  const uploaded = useRef(new WeakMap<File, string>())
  const left = useRef(false)
  // A form that is closed meanwhile is not sent.
  useEffect(() => {
    left.current = false
    return () => {
      left.current = true
      underWay.current?.abort()
    }
  }, [])

  async function upload(file: File): Promise<SentFile> {
    const before = uploaded.current.get(file)
    if (before !== undefined) return { uploaded: before }
    const { name, size: total } = file
    const controller = new AbortController()
    underWay.current = controller
    if (left.current) controller.abort()
    setSending({ name, loaded: 0, total })
    const onProgress = (loaded: number) => setSending({ name, loaded: Math.min(loaded, total), total })
    try {
      // Loaded on demand: most forms send no large file.
      const { uploadFile } = await network.load(() => import('@/app/_ui/files/upload-file'))
      const id = await uploadFile(file, uploads, { signal: controller.signal, onProgress })
      uploaded.current.set(file, id)
      return { uploaded: id }
    } finally {
      setSending(null)
    }
  }

  /** @throws what `wasCancelled` recognises, if the user cancels */
  async function sendFile(file: File, large = file.size > MAX_FORM_BYTES): Promise<SentFile> {
    return large && file.size > 0 && uploads.limit !== null ? upload(file) : encodedFile(file)
  }

  /** The files of a form, as the parts of the call that starts a run. */
  async function sendFiles(fields: Fields, chosen: readonly ChosenFile[]): Promise<SentParts> {
    if (chosen.length === 0) return {}
    const large = chosen.reduce((sum, { file }) => sum + file.size, 0) > MAX_FORM_BYTES
    const files = []
    for (const { name, file } of chosen) files.push({ part: partOf(fields, name), file: await sendFile(file, large) })
    return { files }
  }

  return {
    ...{ limit: uploads.limit, sending, sendFile, sendFiles },
    cancel: () => underWay.current?.abort(),
    /** Call it once a run has the files: none can have them again. */
    forget: () => {
      uploaded.current = new WeakMap()
    },
  }
}

/** Whether an upload ended because the user cancelled it, which needs no message. */
export function wasCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
