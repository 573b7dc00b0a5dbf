import type { FieldType } from '../definition/schema'

/** The group that lists a step in the editor's picker. */
export type StepGroup = 'people' | 'work' | 'flow' | 'data'

/**
 * The control for a field. `save-as` is the name of a run data field, suggested from the name of the step. `template` is one line and `template-area` several lines of text with `${…}`; `key-value`
 * maps names to templated values, `fields` maps names to declared fields, `actions` is a list of ids and labels.
 * `expression` is one expression, `expressions` maps names to expressions, `cases` is a list of ids, labels and
 * expressions. `assignees` is a list of people, groups and roles; `shown` is a list of labels and templated values.
 * `reminders` is when people are reminded, and who gets the task then. `hosts` is a list of names of hosts.
 * `duration` is a number of milliseconds; `iso-duration` is a text in ISO 8601, or a template that resolves to one.
 */
type PlainWidget =
  | 'text'
  | 'textarea'
  | 'save-as'
  | 'template'
  | 'template-area'
  | 'number'
  | 'switch'
  | 'json'
  | 'key-value'
  | 'fields'
  | 'actions'
  | 'code'
  | 'expression'
  | 'expressions'
  | 'cases'
  | 'branches'
  | 'tool'
  | 'agent'
  | 'workflow'
  | 'duration'
  | 'iso-duration'
  | 'retry'
  | 'reminders'
  | 'assignees'
  | 'shown'
  | 'hosts'

interface Hint {
  label: string
  help?: string
  placeholder?: string
  /** The names in this map become fields of the run data. */
  declares?: true
  /** Shown only in the expanded form. */
  advanced?: boolean
}

export type FieldHint<K extends string = string> = Hint &
  (
    | { widget: PlainWidget }
    | { widget: 'select'; options: { value: string; label: string }[] }
    /** A number for each entry of the list in the field `of`, by the entry's id. */
    | { widget: 'counts'; of: K }
    /** The arguments of the tool that the field `of` names, in the version that the field `version` names. */
    | { widget: 'arguments'; of: K; version: K; resource: 'tool' }
    /** The START fields of the workflow that the field `of` names. */
    | { widget: 'arguments'; of: K; version?: never; resource: 'workflow' }
    /** A version of the tool, agent or workflow that the field `of` refers to. */
    | { widget: 'version'; of: K; resource: 'tool' | 'agent' | 'workflow' }
  )

/** The known facts about a value before any run. */
export interface DefinedField {
  type: FieldType
  description?: string
  /** May be missing even after the step has run. */
  optional?: boolean
  /** May be null instead. */
  nullable?: boolean
  /** All of an object's properties, if they are known. */
  properties?: Record<string, DefinedField>
}
