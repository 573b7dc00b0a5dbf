import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'

/** Saves what is not saved yet and gives the version that is on the server then; null when that failed. */
export type SaveNow = () => Promise<number | null>

/** Shows the step and field of a problem or change. */
export type GoTo = (place: { stepId?: string | undefined; field?: string | undefined }) => void

/** `publish-dialog.tsx`: what publishing changes, for whom, and what is broken. Saves first. */
export interface PublishDialogProps {
  opened: boolean
  onClose: () => void
  workflowId: string
  save: SaveNow
  onPublished: (version: number) => void
  onGoTo: GoTo
}

/** `versions-panel.tsx`: the history with a comparison to what is on screen, and restore. */
export interface VersionsPanelProps {
  workflowId: string
  /** As it is in the editor. */
  definition: Definition
  /** Restoring makes a new version of an older one, so what is not saved is saved first. */
  save: SaveNow
  /** The workflow is at this version now and says what `definition` says; the editor begins anew from there. */
  onRestored: (restored: { version: number; definition: Definition }) => void
}

/** `json-view.tsx`: exactly the body of PUT, editable. */
export interface JsonViewProps {
  definition: Definition
  catalog: Catalog
  problems: Problem[]
  readOnly: boolean
  /** Called with a definition that the server could store. */
  onApply: (definition: Definition) => void
}

/** `conflict-dialog.tsx`: somebody else saved what was changed here, too. Nothing is lost whichever way it is left. */
export interface ConflictDialogProps {
  opened: boolean
  onClose: () => void
  workflowId: string
  /** What both sides began with. */
  base: Definition
  mine: Definition
  theirs: { version: number; definition: Definition; by: string }
  /** The chosen whole; to be saved with `theirs.version` as the version seen. */
  onResolve: (merged: Definition) => void
  /** Mine was saved as another workflow; this one is left as theirs. */
  onSavedAsCopy: (copy: { id: string; name: string }) => void
}

/** `test-panel.tsx`: runs the draft and shows how it goes. */
export interface TestPanelProps {
  workflowId: string
  definition: Definition
  save: SaveNow
  onGoTo: GoTo
}
