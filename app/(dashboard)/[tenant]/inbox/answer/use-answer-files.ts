import { useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import { isFileList } from '@/server/definition/file-fields'
import type { JsonObject } from '@/server/definition/json'
import { useFileSender } from '../../workflows/use-file-sender'
import type { Fields } from './answer-values'

/** The files chosen for a task. They are sent with the answer, each only once. */
export function useAnswerFiles({ runId, pauseId, fields }: { runId: string; pauseId: string; fields: Fields }) {
  const client = useTRPCClient()
  const sender = useFileSender()
  const [files, setFiles] = useState<Record<string, File[]>>({})
  const [sent] = useState(() => new WeakMap<File, string>())
  const choose = (name: string, chosen: File[]) =>
    setFiles(({ [name]: _before, ...others }) => (chosen.length > 0 ? { ...others, [name]: chosen } : others))
  const send = async (file: File) => {
    const id =
      sent.get(file) ??
      (await client.tasks.addFile.mutate({ runId, pauseId, file: await sender.sendFile(file) })).fileId
    sent.set(file, id)
    return id
  }
  /** @returns the ids of the files by field */
  const sendAll = async (): Promise<JsonObject> => {
    const values: JsonObject = {}
    for (const [name, chosen] of Object.entries(files)) {
      const ids: string[] = []
      for (const file of chosen) ids.push(await send(file))
      const [first] = ids
      const field = fields[name]
      if (field && first !== undefined) values[name] = isFileList(field) ? ids : first
    }
    return values
  }
  return { files, choose, sendAll, limit: sender.limit, sending: sender.sending, cancel: sender.cancel }
}
