import type { Definition } from '@/server/definition/schema'

/** An obvious remedy for a problem, as one undoable edit. */
export interface Fix {
  /** The button's label, such as `Remove nme`. */
  label: string
  apply: (definition: Definition) => Definition
}
