'use client'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import { type FileSource, FileSourceContext } from '@/app/_ui/files/source'
import { type Uploads, UploadsProvider } from '@/app/_ui/files/uploads'
import type { FileInfo } from '@/server/vault/describe-files'
import { useTenant } from './tenant-context'

/** The most ids in one call. */
const AT_ONCE = 50

/** The files of the workspace, and uploads to it, for all of its pages. Values that are shown together ask for their files together. */
export function WorkspaceFiles({ children }: { children: ReactNode }) {
  const client = useTRPCClient()
  const { uploadLimit } = useTenant()
  const source = useMemo<FileSource>(() => {
    const describe = inOneCall(async (ids) => (await client.files.describe.query({ ids })).files)
    const addressOf = (id: string) => `/api/files/${id}`
    return {
      // biome-ignore lint/correctness/useHookAtTopLevel: called as a hook, by the components that show a value
      useFile: (id) => useQuery(queryOf(id.toLowerCase(), describe)).data,
      read: (id, signal) => fetch(addressOf(id), signal ? { signal } : {}),
      address: addressOf,
    }
  }, [client])
  const uploads = useMemo<Uploads>(
    () => ({
      limit: uploadLimit,
      begin: (file) => client.files.beginUpload.mutate(file),
      complete: (fileId) => client.files.completeUpload.mutate({ fileId }),
      cancel: (fileId) => client.files.cancelUpload.mutate({ fileId }),
    }),
    [client, uploadLimit],
  )
  return (
    <FileSourceContext value={source}>
      <UploadsProvider uploads={uploads}>{children}</UploadsProvider>
    </FileSourceContext>
  )
}

/** What an id names never changes; null if it names no file. */
function queryOf(id: string, describe: (id: string) => Promise<FileInfo | null>) {
  return { queryKey: ['file', id], queryFn: () => describe(id), staleTime: Number.POSITIVE_INFINITY }
}

/** Collects the ids that are asked for in the same turn. */
function inOneCall(read: (ids: string[]) => Promise<FileInfo[]>): (id: string) => Promise<FileInfo | null> {
  let asked: Promise<Map<string, FileInfo>> | null = null
  let ids: string[] = []
  return async (id) => {
    if (!asked || ids.length >= AT_ONCE) {
      const mine: string[] = []
      ids = mine
      asked = new Promise<void>((resolve) => setTimeout(resolve, 0))
        .then(() => {
          if (ids === mine) asked = null
          return read(mine)
        })
        .then((found) => new Map(found.map((file) => [file.id, file])))
    }
    ids.push(id)
    return (await asked).get(id) ?? null
  }
}
