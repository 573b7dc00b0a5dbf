import { useSyncExternalStore } from 'react'

/** An API call as a terminal command. */
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
  const get = body === undefined && form === undefined
  const lines = [
    `curl ${accept ? '-N' : '-s'} ${get ? '' : '-X POST '}${quote(`${origin}${path}`)}`,
    `  -H ${key === undefined ? '"x-api-key: $API_KEY"' : quote(`x-api-key: ${key}`)} -H ${quote(`x-tenant-id: ${tenantId}`)}`,
    ...(form ?? []).map((part) => `  -F ${quote(part)}`),
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
