import type { JsonValue } from '@/server/definition/json'

/** A curl command as the request of a tool. */
export interface ImportedCall {
  method: string
  url: string
  headers: Record<string, string>
  body?: JsonValue
  bodyType: 'json' | 'text' | 'form'
  timeoutMs?: number
}
