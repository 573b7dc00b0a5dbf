import type { JsonObject } from '@/server/definition/json'
import type { Report } from './use-problems'

/** What the form of each kind of tool is given. */
export interface KindProps {
  config: JsonObject
  onConfig: (config: JsonObject) => void
  report: Report
  error: unknown
  readOnly: boolean
}
