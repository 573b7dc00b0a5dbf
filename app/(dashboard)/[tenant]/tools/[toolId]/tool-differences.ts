import type { JsonObject, JsonValue } from '@/server/definition/json'
import { type Difference, otherRows, schemaRow, textRow, valueRow } from '../../_versioned/differences'
import { pretty } from '../../_versioned/json'
import type { ToolForm } from './tool-form'

/** The fields of a tool's form that differ. */
export function toolDifferences(before: ToolForm, now: ToolForm): Difference[] {
  return [
    ...valueRow('Name', before.name, now.name),
    ...textRow('Description', before.description, now.description),
    ...configDifferences(before.config, now.config),
    ...schemaRow('Input schema', 'input', before.inputSchema, now.inputSchema),
    ...schemaRow('Output schema', 'output', before.outputSchema, now.outputSchema),
    ...otherRows(before, now, ['name', 'description', 'config', 'inputSchema', 'outputSchema']),
  ]
}

const LABELS: Record<string, string> = {
  method: 'Method',
  url: 'URL',
  bodyType: 'Body',
  result: 'Result',
  path: 'Part of the response',
  toolName: 'Tool on the server',
  allowedHosts: 'Allowed hosts',
}
const PAIRS: Record<string, string> = { headers: 'Header', query: 'Query' }

function configDifferences(before: JsonObject, now: JsonObject): Difference[] {
  const at = (config: JsonObject, name: string) => (Object.hasOwn(config, name) ? config[name] : undefined)
  return [
    ...Object.entries(LABELS).flatMap(([name, label]) => valueRow(label, at(before, name), at(now, name))),
    ...Object.entries(PAIRS).flatMap(([name, label]) => pairDifferences(label, at(before, name), at(now, name))),
    ...valueRow('Time limit', duration(before.timeoutMs), duration(now.timeoutMs)),
    ...textRow('Body template', bodyText(before.body), bodyText(now.body)),
    ...textRow('Code', codeOf(before.code), codeOf(now.code), 'code'),
    ...otherRows(before, now, [...Object.keys(LABELS), ...Object.keys(PAIRS), 'timeoutMs', 'body', 'code']),
  ]
}

const duration = (ms: JsonValue | undefined) => (typeof ms === 'number' ? `${ms / 1000} seconds` : ms)
const codeOf = (code: JsonValue | undefined) => (typeof code === 'string' ? code : '')
const bodyText = (body: JsonValue | undefined) =>
  body === undefined ? '' : typeof body === 'string' ? body : pretty(body)

/** Of headers and of the query, only the names that differ. */
function pairDifferences(label: string, before: JsonValue | undefined, now: JsonValue | undefined): Difference[] {
  const pairs = (value: JsonValue | undefined) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  const [old, values] = [pairs(before), pairs(now)]
  const names = new Set([...Object.keys(old), ...Object.keys(values)])
  return [...names].flatMap((name) => valueRow(`${label} ${name}`, old[name], values[name]))
}
