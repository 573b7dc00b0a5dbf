/** An API call as a terminal command, formatted the same on every page. */
export interface CurlCall {
  url: string
  /** By default GET, or POST with a body or a form. */
  method?: string | undefined
  /** A key; by default a placeholder. Null for a call without one. */
  key?: string | null | undefined
  /** By default a placeholder. */
  tenantId?: string | undefined
  headers?: Record<string, string>
  /** The parts of a form, as curl reads them: `name=text` or `name=@file`. */
  form?: string[] | undefined
  /** JSON. */
  body?: string | undefined
  /** The name of a file whose bytes are the body. */
  file?: string | undefined
  /** The response is streamed. */
  stream?: boolean
  /** The response is a file, saved under its own name. */
  save?: boolean
}

export function curlCommand(call: CurlCall): string {
  const { url, key, tenantId, headers = {}, form = [], body, file, stream, save } = call
  const method = call.method ?? (body === undefined && form.length === 0 ? 'GET' : 'POST')
  const lines = [
    `curl ${stream ? '-N' : '-s'} ${method === 'GET' ? '' : `-X ${method} `}${quote(url)}`,
    ...(key === null
      ? []
      : [
          `-H ${key === undefined ? '"x-api-key: $API_KEY"' : quote(`x-api-key: ${key}`)} -H ${
            tenantId === undefined ? '"x-tenant-id: $TENANT_ID"' : quote(`x-tenant-id: ${tenantId}`)
          }`,
        ]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...form.map((part) => `-F ${quote(part)}`),
    ...(body === undefined ? [] : [`-H 'content-type: application/json'`, `-d ${quote(body)}`]),
    ...(file === undefined
      ? []
      : [`-H 'content-type: application/octet-stream'`, `--data-binary ${quote(`@${file}`)}`]),
    ...(save ? ['-OJ'] : []),
  ]
  return lines.join(' \\\n  ')
}

/** Quotes any text as one shell word. */
export function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
