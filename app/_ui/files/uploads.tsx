'use client'
import { createContext, type ReactNode, use } from 'react'
import type { BegunUpload } from '@/server/files/direct/begin'
import { MAX_FORM_BYTES } from './form-limit'

/** How a page uploads a file before it sends the form that names it. */
export interface Uploads {
  /** The largest such file, in bytes; null if files go only with a form. */
  limit: number | null
  begin: (file: { name: string; type: string; size: number }) => Promise<BegunUpload>
  complete: (fileId: string) => Promise<unknown>
  /** Gives the place of an upload back. */
  cancel: (fileId: string) => Promise<unknown>
}

const refuse = () => Promise.reject(new Error('[uploads] used where files go only with a form'))
const NONE: Uploads = { limit: null, begin: refuse, complete: refuse, cancel: refuse }
const Context = createContext<Uploads>(NONE)

export function UploadsProvider({ uploads, children }: { uploads: Uploads; children: ReactNode }) {
  return <Context value={uploads}>{children}</Context>
}

/** Cancels an upload that no run is going to have. If that fails, the service does so later by itself. */
export function giveUp({ cancel }: Uploads, fileId: string): void {
  cancel(fileId).catch(() => {})
}

export function useUploads(): Uploads {
  return use(Context)
}

/** The largest file that a field takes here, such as `25 MB`. */
export function limitText(limit: number | null): string {
  return `${(limit ?? MAX_FORM_BYTES) / (1024 * 1024)} MB`
}
