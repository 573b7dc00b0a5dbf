import type { Definition } from '@/server/definition/schema'

/** What a person could do about a problem without thinking, as one undoable edit. */
export interface Fix {
  /** On the button, such as `Remove nme`. */
  label: string
  apply: (definition: Definition) => Definition
}
