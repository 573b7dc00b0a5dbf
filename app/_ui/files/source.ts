'use client'
import { createContext, use } from 'react'
import type { FileInfo } from '@/server/vault/describe-files'

/** How the files of a page are found and read: with a session, or with a task link. */
export interface FileSource {
  /** A hook: undefined until it is known, null for what is no file that may be shown here. */
  useFile(id: string): FileInfo | null | undefined
  /** The response with the file's bytes, or with an error. */
  read(id: string, signal?: AbortSignal): Promise<Response>
  /** Where a plain link downloads it; null if only `read` can. */
  address(id: string): string | null
}

export const FileSourceContext = createContext<FileSource | null>(null)

const NONE: FileSource = {
  useFile: () => null,
  read: () => Promise.reject(new Error('no file can be read here')),
  address: () => null,
}

export function useFileSource(): FileSource {
  return use(FileSourceContext) ?? NONE
}
