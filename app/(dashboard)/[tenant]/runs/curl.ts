import type { JsonValue } from '@/server/definition/json'
import { curl } from '../_versioned/curl'

interface Place {
  origin: string
  tenantId: string
}

export function startCurl({ workflowId, input, ...place }: Place & { workflowId: string; input: JsonValue }): string {
  return curl({ ...place, path: `/api/workflow/start-async/${workflowId}`, body: input })
}

export function statusCurl({ runId, ...place }: Place & { runId: string }): string {
  return curl({ ...place, path: `/api/workflow/status/${runId}` })
}

export function resumeCurl({ runId, body, ...place }: Place & { runId: string; body: JsonValue }): string {
  return curl({ ...place, path: `/api/workflow/resume/${runId}`, body })
}

export function cancelCurl({ runId, ...place }: Place & { runId: string }): string {
  return curl({ ...place, path: '/api/workflow/management/cancel', body: { runId } })
}
