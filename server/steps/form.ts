import type { FieldType } from '../definition/schema'

/** Where the editor's picker lists a step. */
export type StepGroup = 'people' | 'work' | 'flow'

/**
 * What a field is edited with. `template` is one line, `template-area` several lines of text with `${…}`;
 * `key-value` a map of names to templated values, `fields` a map of declared fields, `actions` a list of id and label.
 */
type PlainWidget =
  | 'text'
  | 'textarea'
  | 'template'
  | 'template-area'
  | 'number'
  | 'switch'
  | 'json'
  | 'key-value'
  | 'fields'
  | 'actions'
  | 'tool'
  | 'agent'
  | 'duration'
  | 'retry'

interface Hint {
  label: string
  help?: string
  placeholder?: string
  /** Shown only when the rest of the form is opened. */
  advanced?: boolean
}

export type FieldHint<K extends string = string> = Hint &
  (
    | { widget: PlainWidget }
    | { widget: 'select'; options: { value: string; label: string }[] }
    /** A version of the tool or agent that the field `of` names. */
    | { widget: 'version'; of: K; resource: 'tool' | 'agent' }
  )

/** What is known of a value before any run. */
export interface DefinedField {
  type: FieldType
  description?: string
  /** May be missing although the step ran. */
  optional?: boolean
  properties?: Record<string, DefinedField>
}
