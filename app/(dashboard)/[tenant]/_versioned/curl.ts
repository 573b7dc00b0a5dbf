import { useSyncExternalStore } from 'react'

/** An API call as a terminal command. The caller fills in the key. */
export function curl(call: {
  origin: string
  tenantId: string
  path: string
  /** Absent for a GET. */
  body?: unknown
  accept?: 'text/event-stream'
}): string {
  const { origin, tenantId, path, body, accept } = call
  const lines = [
    `curl ${accept ? '-N' : '-s'} ${body === undefined ? '' : '-X POST '}${quote(`${origin}${path}`)}`,
    `  -H "x-api-key: $API_KEY" -H ${quote(`x-tenant-id: ${tenantId}`)}`,
    ...(body === undefined
      ? []
      : [
          `  -H 'content-type: application/json'${accept ? ` -H ${quote(`accept: ${accept}`)}` : ''}`,
          `  -d ${quote(JSON.stringify(body))}`,
        ]),
  ]
  return lines.join(' \\\n')
}

/** Quotes a text as one shell word, whatever it contains. */
export function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
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
