import { useSyncExternalStore } from 'react'
import { curlCommand } from '@/app/_ui/curl'

/** A call to this workspace as a terminal command. */
export function curl(call: {
  origin: string
  tenantId: string
  path: string
  /** Absent for a GET and for a form. */
  body?: unknown
  /** The parts of a form, as curl reads them: `name=text` or `name=@file`. */
  form?: string[]
  accept?: 'text/event-stream'
  /** By default a placeholder. */
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

/** The origin of this page. Empty during server rendering. */
export function useOrigin(): string {
  return useSyncExternalStore(
    never,
    () => window.location.origin,
    () => '',
  )
}
