import { useSyncExternalStore } from 'react'
import { curlCommand } from '@/app/_ui/curl'

/** A call of this workspace as a terminal command. */
export function curl(call: {
  origin: string
  tenantId: string
  path: string
  /** Absent for a GET, and for a form. */
  body?: unknown
  /** The parts of a form, as curl reads them: `name=text` or `name=@file`. */
  form?: string[]
  accept?: 'text/event-stream'
  /** By default, the caller fills it in. */
  key?: string
}): string {
  const { origin, tenantId, path, body, form, accept, key } = call
  return curlCommand({
    url: `${origin}${path}`,
    key,
    tenantId,
    form,
    ...(accept ? { headers: { accept }, stream: true } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const never = () => () => {}

/** The origin of this page. Empty while the server renders it. */
export function useOrigin(): string {
  return useSyncExternalStore(
    never,
    () => window.location.origin,
    () => '',
  )
}
