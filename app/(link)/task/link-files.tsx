'use client'
import { type ReactNode, useMemo } from 'react'
import { type FileSource, FileSourceContext } from '@/app/_ui/files/source'
import { TASK_LINK_HEADER } from '@/lib/link-headers'
import type { FileInfo } from '@/server/vault/describe-files'

/** The files that the task's author shows. They are read with the link's token, which no address contains. */
export function LinkFiles({ token, files, children }: { token: string; files: FileInfo[]; children: ReactNode }) {
  const source = useMemo<FileSource>(
    () => ({
      useFile: (id) => files.find((file) => file.id === id.toLowerCase()) ?? null,
      read: (id, signal) =>
        fetch(`/api/files/${id}`, {
          headers: { [TASK_LINK_HEADER]: token },
          credentials: 'omit',
          ...(signal ? { signal } : {}),
        }),
      address: () => null,
    }),
    [token, files],
  )
  return <FileSourceContext value={source}>{children}</FileSourceContext>
}
