import { useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import { isFileList } from '@/server/definition/file-fields'
import type { JsonObject } from '@/server/definition/json'
import type { SentFile } from '@/server/runs/with-files'
import { useFileSender } from '../../workflows/use-file-sender'
import type { Fields } from './answer-values'

/** The files chosen for a task. They are sent with the answer, each only once. */
export function useAnswerFiles({ runId, pauseId, fields }: { runId: string; pauseId: string; fields: Fields }) {
  const client = useTRPCClient()
  const [files, setFiles] = useState<Record<string, File[]>>({})
  const { sender, limit, progress } = useFileSender(files)
  const choose = (name: string, chosen: File[]) =>
    setFiles(({ [name]: _before, ...others }) => (chosen.length > 0 ? { ...others, [name]: chosen } : others))
  const give = async (file: SentFile) => (await client.tasks.addFile.mutate({ runId, pauseId, file })).fileId
  /** @returns the ids of the files by field; null if the user cancels */
  const sendAll = async (): Promise<JsonObject | null> => {
    const ids = await sender.giveFiles(files, give)
    if (!ids) return null
    const values: JsonObject = {}
    for (const [name, own] of Object.entries(ids)) {
      const [first] = own
      const field = fields[name]
      if (field && first !== undefined) values[name] = isFileList(field) ? own : first
    }
    return values
  }
  return { files, choose, sendAll, limit, progress }
}
