import { curlCommand } from '@/app/_ui/curl'
import type { DocumentedOperation, Example, OpenApiDocument, Parameter } from '@/server/openapi/types'

/** A sample call: the URL with example values in its path, the headers that it needs, and a body. */
export interface SampleCall {
  method: string
  url: string
  /** Absent when nothing is sent. */
  body?: Example['value']
  headers: Record<string, string>
  /** The file whose bytes are the body. */
  file?: string
  secured: boolean
  accepts: 'json' | 'bytes' | 'events'
}

export function sampleCall(
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: DocumentedOperation,
): SampleCall {
  const examples = operation.requestBody?.content['application/json']?.examples ?? {}
  const [example] = Object.values(examples)
  const url = `${document.servers[0]?.url ?? ''}${pathWithExamples(path, operation)}`
  const required = headersOf({ operation }, document).filter((header) => header.required)
  const headers = Object.fromEntries(required.map(({ name, example }) => [name.toLowerCase(), String(example)]))
  const call = {
    ...{ method, url, headers, secured: operation['x-role'] !== 'nobody', accepts: acceptsOf(operation) },
    ...(takesBytes(operation) ? { file: 'report.pdf' } : {}),
  }
  return example && 'value' in example ? { ...call, body: example.value } : call
}

function pathWithExamples(path: string, operation: DocumentedOperation): string {
  const examples = new Map(
    operation.parameters.flatMap((it) => (isParameter(it) ? [[it.name, it.example] as const] : [])),
  )
  return path.replace(/\{(\w+)\}/g, (all, name: string) => String(examples.get(name) ?? all))
}

/** Whether the body of the call is a file. */
export function takesBytes({ requestBody }: DocumentedOperation): boolean {
  return requestBody?.content['application/octet-stream'] !== undefined
}

export function headersOf(
  { operation }: { operation: DocumentedOperation },
  { components }: OpenApiDocument,
): Parameter[] {
  return operation.parameters
    .flatMap((it) => (isParameter(it) ? [it] : (components.parameters[it.$ref.split('/').at(-1) ?? ''] ?? [])))
    .filter((it) => it.in === 'header')
}

export function isParameter(parameter: Parameter | { $ref: string }): parameter is Parameter {
  return 'name' in parameter
}

function acceptsOf({ responses }: DocumentedOperation): SampleCall['accepts'] {
  const types = Object.keys(responses['200']?.content ?? {})
  if (types.includes('text/event-stream')) return 'events'
  return types.includes('*/*') ? 'bytes' : 'json'
}

export function curlSample({ method, url, headers, body, file, secured, accepts }: SampleCall): string {
  return curlCommand({
    ...{ url, method, headers, file },
    key: secured ? undefined : null,
    body: body === undefined ? undefined : JSON.stringify(body, null, 2),
    stream: accepts === 'events',
    save: accepts === 'bytes',
  })
}

/** A start that uploads a file. */
export function curlFormSample({ url }: SampleCall): string {
  return curlCommand({ url: url.replace(/wf_\w+$/, 'wf_document'), form: ['attachment=@note.txt'] })
}

export function typescriptSample({ method, url, headers: needs, body, file, secured, accepts }: SampleCall): string {
  const headers = [
    ...Object.entries(needs).map(([name, value]) => `    '${name}': '${value}',`),
    ...(secured ? [`    'x-api-key': env.API_KEY ?? '',`, `    'x-tenant-id': env.TENANT_ID ?? '',`] : []),
    ...(body === undefined ? [] : [`    'content-type': 'application/json',`]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2))}),`]),
    ...(file === undefined ? [] : [`  body: await readFile('${file}'),`]),
  ]
  const call = options.length > 0 ? ['url, {', ...options, '})'].join('\n') : 'url)'
  const needed = [...(secured ? ['env'] : []), ...(accepts === 'events' ? ['stdout'] : [])]
  const imports = [
    ...(file === undefined ? [] : [`import { readFile } from 'node:fs/promises'`]),
    ...(needed.length > 0 ? [`import { ${needed.join(', ')} } from 'node:process'`] : []),
  ]
  const head = imports.length > 0 ? `${imports.join('\n')}\n\n` : ''
  return `${head}const url = '${url}'\nconst response = await fetch(${call}\n${READ[accepts]}`
}

const READ = {
  json: 'if (!response.ok) throw new Error(await response.text())\nconst answer = await response.json()',
  bytes: 'if (!response.ok) throw new Error(await response.text())\nconst bytes = await response.arrayBuffer()',
  events:
    'const text = response.body?.pipeThrough(new TextDecoderStream())\nfor await (const chunk of text ?? []) stdout.write(chunk)',
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ')
}
