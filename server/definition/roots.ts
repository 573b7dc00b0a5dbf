import { expressionReferences } from './expression/fields'
import type { Step } from './schema'
import { findReferences } from './template'
import { templatedConfig } from './templated-config'

/** The names that a step refers to: of fields, or of earlier steps. */
export function rootsOf(step: Step): Set<string> {
  const references = [...findReferences(templatedConfig(step)).references, ...expressionReferences(step).references]
  return new Set(references.map(({ reference }) => reference.root))
}
