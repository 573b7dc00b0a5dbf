import { useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import type { JsonObject } from '@/server/definition/json'
import { sentFile } from '../../workflows/start-values'

/** The files chosen for a task. They are sent with the answer, each only once. */
export function useAnswerFiles({ runId, pauseId }: { runId: string; pauseId: string }) {
  const client = useTRPCClient()
  const [files, setFiles] = useState<Record<string, File>>({})
  const [sent] = useState(() => new WeakMap<File, string>())
  const choose = (name: string, file: File | null) =>
    setFiles(({ [name]: _before, ...others }) => (file ? { ...others, [name]: file } : others))
  /** @returns the ids of the files by field */
  const send = async (): Promise<JsonObject> => {
    const ids: JsonObject = {}
    for (const [name, chosen] of Object.entries(files)) {
      const { file } = await sentFile(chosen)
      if (!file) continue
      const id = sent.get(chosen) ?? (await client.tasks.addFile.mutate({ runId, pauseId, file })).fileId
      sent.set(chosen, id)
      ids[name] = id
    }
    return ids
  }
  return { files, choose, send }
}
