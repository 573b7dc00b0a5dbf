import type { JsonObject } from '@/server/definition/json'
import type { Report } from './use-problems'

export interface KindProps {
  config: JsonObject
  onConfig: (config: JsonObject) => void
  report: Report
  error: unknown
  readOnly: boolean
}
