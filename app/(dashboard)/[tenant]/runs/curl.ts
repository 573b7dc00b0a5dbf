import type { JsonValue } from '@/server/definition/json'

interface Place {
  origin: string
  tenantId: string
}

/** The same call as a command. The key is always a variable: nothing copied from a screen contains one. */
function curl({ origin, tenantId }: Place, method: 'GET' | 'POST', path: string, body?: JsonValue): string {
  const lines = [
    `curl ${method === 'GET' ? '' : '-X POST '}'${origin}${path}'`,
    `  -H "x-api-key: $API_KEY"`,
    `  -H 'x-tenant-id: ${tenantId}'`,
  ]
  if (body !== undefined) {
    lines.push(`  -H 'content-type: application/json'`, `  -d ${quote(JSON.stringify(body))}`)
  }
  return lines.join(' \\\n')
}

/** Quotes a text as one shell word. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export function startCurl({ workflowId, input, ...place }: Place & { workflowId: string; input: JsonValue }): string {
  return curl(place, 'POST', `/api/workflow/start-async/${workflowId}`, input)
}

export function statusCurl({ runId, ...place }: Place & { runId: string }): string {
  return curl(place, 'GET', `/api/workflow/status/${runId}`)
}

export function resumeCurl({ runId, body, ...place }: Place & { runId: string; body: JsonValue }): string {
  return curl(place, 'POST', `/api/workflow/resume/${runId}`, body)
}

export function cancelCurl({ runId, ...place }: Place & { runId: string }): string {
  return curl(place, 'POST', '/api/workflow/management/cancel', { runId })
}
