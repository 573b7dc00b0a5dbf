import { useSyncExternalStore } from 'react'

/** A call of the API as a command for a terminal; the key is the caller's to fill in. */
export function curl(call: {
  origin: string
  tenantId: string
  path: string
  body: unknown
  accept?: 'text/event-stream'
}): string {
  const { origin, tenantId, path, body, accept } = call
  const lines = [
    `curl ${accept ? '-N' : '-s'} -X POST ${quote(`${origin}${path}`)}`,
    `  -H "x-api-key: $API_KEY" -H ${quote(`x-tenant-id: ${tenantId}`)}`,
    `  -H 'content-type: application/json'${accept ? ` -H ${quote(`accept: ${accept}`)}` : ''}`,
    `  -d ${quote(JSON.stringify(body))}`,
  ]
  return lines.join(' \\\n')
}

/** As one word of a shell, whatever is in it. */
function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

const never = () => () => {}

/** Where this page came from; empty while the server draws it. */
export function useOrigin(): string {
  return useSyncExternalStore(
    never,
    () => window.location.origin,
    () => '',
  )
}
