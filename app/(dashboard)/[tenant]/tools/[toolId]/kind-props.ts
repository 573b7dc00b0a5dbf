import type { JsonObject } from '@/server/definition/json'
import type { Report } from './use-problems'

/** The props of each tool kind's form. */
export interface KindProps {
  config: JsonObject
  onConfig: (config: JsonObject) => void
  report: Report
  error: unknown
  readOnly: boolean
}
